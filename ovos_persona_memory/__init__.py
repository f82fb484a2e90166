"""The memory of OpenVoiceOS: what was said, kept and found again.

The rooms, from the ground up; imports go down only:

0  errors      what can go wrong, with its code
   validation  what callers hand in, checked against its annotations
   blocks      a text handed in as content blocks
   records     turns, entries, hits, scopes: plain data
   fact        a fact about a person, its changes, what was decided about it
   episode     what happened, as plain data
   origin      where a memory comes from, as plain data
   topics      the bus topics
   irregular   words of which no stemmer knows that they are one
   stems       Snowball's stemmers, quicker
   words       from a text to index words: folding, stems, pairs of characters
   keeping     answers that are kept in mind, for good or until texts are forgotten
   language    stop words, question forms and sentences of each known language
   counting    how many there are of something, in words
   vectors     rows of numbers of which near ones mean alike
   version     the version
1  claims      what a session says about who is speaking
   messages    the only reader of bus messages
   config      the only reader of settings
   fields      the types of fields that several verbs take
   fact_requests  what each verb about facts takes
   episode_requests  what the verbs about what happened take
   requests    what each verb takes, checked at the rim
   read_ahead  a socket of which as much is read at a time as has come
   bus         a bus connection that keeps order, answers fast and comes back
2  embedder    from texts to vectors
   stores      where records are kept: the port, and a module for each backend
3  handed      turns that are handed in
   wording     the index words of a record, made anew when the rules for them change
   exchanges   who answers whom in a session's log
   window      the newest messages that fit, none of them an orphan
   history     from the log of a session to its recent messages
   summaries   the older part of a session, and a session as something to take and put back
   linking     which heard turn an utterance id or a persona's record belongs to
   captures    whether memory may be written and read now
   identity    whose words an utterance is taken for
   indexer     what was said gets its vectors in the background
   sweeps      what was forgotten, as far as it must reach what is still on its way
   ledger      what was forgotten, known by keyed hashes, so that it does not come back
   matching    what the words of a clause are compared with
   patterns    from templates to what clauses are compared with
   template    one sentence by which people tell facts, and the words it is compared with
   wordlists   the words and phrases that they are made of
   templates   all of them, of each language
   signs       letters and digits that are said one by one
   order       spoken word order made plain
   slots       what facts can tell, and which values each can hold
   secrets     what is a secret, and where a text tells one
   sentences   where a sentence of what was said ends and the next begins
   clauses     what somebody said, cut into clauses
   corrections  what puts right what was just said
   people      whom a clause names
   mentions    whom and what a clause speaks of
   introduced  who says who they are, and what "it" is
   references  what is named first and then stood for
   referring   what is understood from what was said before
   doubting    what is asked in the words of a statement
   statements  which words of a sentence are a statement
   redacting   what is left of an utterance when the secrets that it tells are cut out
   requested   what somebody asks to have remembered
   verdict     what one sentence comes to
   renaming    who gives another name than theirs
   looks       what each word of an utterance looks like
   arrays      the arrays of a file, without reading them
   pieces      the pieces of words that an encoder knows
   encoder     what words mean where they stand
   network     how likely each word tells what, as a network has it
   tagging     which words tell what, as two trained models guess
   hints       where the values stand that templates took
   heard       an utterance as a model reads it
   belief      how likely what was understood is right, by all that is known of it
   merging     what templates took and what a model guesses, as one
   workplaces  where somebody does what they do for a living
   denials     what somebody says they do not have, are not or do not fear
   whose       of whom and of what a guess tells
   implausible  what an utterance cannot tell of its speaker
   kinship     who somebody is whose relation is said behind the name
   strangers   who is spoken of in a household and is none of it
   guessing    what an utterance tells that no template fits
   weekly      the days on which somebody does something
   ailments    what somebody calls theirs that only who is ill has
   moods       how somebody feels, wherever an utterance says it
   amending    what a speaker puts right
   gate        what of a turn becomes a fact, and why not
   certainty   how sure a fact is, and how it grows out of what was said
   dates       the days that a question names
   times       times that people name
   question    what is known of a question before anything is searched
   forms       the other index words under which a question's words may stand
   ranking     the order of candidates: their words, and the talk around them
   revision    what puts right a statement, and what takes one back
   hits        found records: their numbers, whose words they are, what is told of them
   recall      from a question to hits
   quoting     what others wrote, as quotations that nothing in them can close
   excerpts    the part of a long text that bears on a question
   episode_hits  what happened, as hits
   repeats     which hits a persona is told already
   context     from history and hits to what a persona is handed
   targets     from what somebody names to the records that are about it
4  around      who is known by name, and what was spoken of a moment ago
   learning    facts from turns, as they are taken in: what supersedes what
   waiting_turns  which turns wait for somebody to learn from them
   backlog     turns from which something is still to be learned
   transcript  the log: what was heard or handed in, each turn once
   audit       what is wrong with what is kept
   facts       what was learned of people: listed, followed back, corrected, reviewed
   entries     lasting memories by key
   sessions    one session as a whole: its summary, taking it out and putting it back, trimming it
   retention   what is kept for so many days and no longer
   documents   texts kept to be found, apart from what was said
   episodes    the log of what happened
   why         where a memory comes from
   referents   what "that" means now in a session
   forgetting  from what is asked to be forgotten to the records that go
   users       who there is, and two that are one person made one
   finding     questions to the memory: asked now, where the person is
   contexts    what a persona is handed: history, what is recalled, what is known of the person
   memory      PersonaMemory: the verbs, in this process
   migrating   everything that one store holds, put into another
   importing   what other memories have kept, as records of ours
   transport   requests to the daemon, over the bus or the owner's door
   outbox      records on their way to a daemon that may be away
   client      MemoryClient: the same verbs, asked of the daemon
   measuring   how well recall finds: labelled conversations, rankers and measures
5  service     the daemon
   opm         plugins for personas
   skill       what people say to their memory, and what it says to them
6  cli         the command line

Read first: records, memory, service, stores/base.
"""
