CREATE INDEX document_body ON document (body);
