-- What is kept of a session beside its turns. `seq` is that of the newest turn when it was put.
CREATE TABLE note (
    user_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    body INTEGER NOT NULL,
    trimmed_to INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    updated_at REAL NOT NULL,
    PRIMARY KEY (user_id, session_id)
) WITHOUT ROWID;
-- Documents have words and statistics of their own, and share none with turns and entries. Names that a
-- caller chose are known by a hash: their spelling is in `body`, or nowhere.
CREATE TABLE namespace (
    num INTEGER PRIMARY KEY,
    user_id TEXT NOT NULL,
    name_hash INTEGER NOT NULL,
    documents INTEGER NOT NULL DEFAULT 0,
    words INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX namespace_name ON namespace (user_id, name_hash);
CREATE TABLE document (
    num INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL,
    id_hash INTEGER NOT NULL,
    body INTEGER NOT NULL,
    dim INTEGER,
    updated_at REAL NOT NULL
);
CREATE UNIQUE INDEX document_id ON document (namespace, id_hash);
CREATE INDEX document_dim ON document (namespace, dim) WHERE dim IS NOT NULL;
CREATE TABLE document_word (num INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, hash INTEGER NOT NULL, n INTEGER NOT NULL);
CREATE UNIQUE INDEX document_word_hash ON document_word (namespace, hash);
CREATE TABLE document_posting (
    word INTEGER NOT NULL,
    doc INTEGER NOT NULL,
    times INTEGER NOT NULL,
    length INTEGER NOT NULL,
    PRIMARY KEY (word, doc)
) WITHOUT ROWID;
-- float32, little-endian, under the number of the document's body; appended and emptied in place as bodies are.
CREATE TABLE document_embedding (num INTEGER PRIMARY KEY, embedding BLOB);
