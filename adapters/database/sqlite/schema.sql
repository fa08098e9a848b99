BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0009');
CREATE TABLE audit (
	id INTEGER NOT NULL, 
	ref VARCHAR NOT NULL, 
	seq INTEGER NOT NULL, 
	at INTEGER NOT NULL, 
	event VARCHAR NOT NULL, 
	actor VARCHAR NOT NULL, 
	data VARCHAR NOT NULL, 
	prev VARCHAR NOT NULL, 
	hash VARCHAR NOT NULL, 
	sealed_by VARCHAR, 
	PRIMARY KEY (id), 
	CONSTRAINT audit_place UNIQUE (ref, seq)
);
CREATE TABLE calls (
	ref VARCHAR NOT NULL, 
	short VARCHAR NOT NULL, 
	digest VARCHAR NOT NULL, 
	tools VARCHAR NOT NULL, 
	tool VARCHAR NOT NULL, 
	executor VARCHAR NOT NULL, 
	definition VARCHAR NOT NULL, 
	cwd VARCHAR, 
	preconditions VARCHAR NOT NULL, 
	sentence VARCHAR NOT NULL, 
	preview VARCHAR NOT NULL, 
	notes VARCHAR NOT NULL, 
	note VARCHAR NOT NULL, 
	requester VARCHAR NOT NULL, 
	agent VARCHAR NOT NULL, 
	session VARCHAR NOT NULL, 
	origin VARCHAR NOT NULL, 
	runs VARCHAR NOT NULL, 
	"key" VARCHAR, 
	previous VARCHAR, 
	action VARCHAR NOT NULL, 
	risk VARCHAR NOT NULL, 
	rule VARCHAR, 
	policy VARCHAR NOT NULL, 
	timeout_s INTEGER NOT NULL, 
	execution_s INTEGER NOT NULL, 
	require_reason BOOLEAN NOT NULL, 
	terms VARCHAR NOT NULL, 
	approvers VARCHAR NOT NULL, 
	routes VARCHAR NOT NULL, 
	created_at INTEGER NOT NULL, 
	deadline INTEGER NOT NULL, 
	row_mac VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	version INTEGER NOT NULL, 
	decision VARCHAR, 
	decided_at INTEGER, 
	decided_by VARCHAR, 
	reason VARCHAR, 
	decision_mac VARCHAR, 
	claim_owner VARCHAR, 
	claim_hash VARCHAR, 
	claim_until INTEGER, 
	result VARCHAR, 
	finished_at INTEGER, 
	due_at INTEGER, 
	archived BOOLEAN NOT NULL, 
	error VARCHAR, 
	output VARCHAR, 
	salt BLOB, 
	args BLOB NOT NULL, claim_mac VARCHAR, result_mac VARCHAR, erased_at INTEGER, 
	PRIMARY KEY (ref), 
	CONSTRAINT calls_short UNIQUE (short)
);
CREATE TABLE cards (
	ref VARCHAR NOT NULL, 
	route VARCHAR NOT NULL, 
	message VARCHAR, 
	failed_at INTEGER, 
	error VARCHAR, mac VARCHAR, 
	PRIMARY KEY (ref, route), 
	FOREIGN KEY(ref) REFERENCES calls (ref)
)
 WITHOUT ROWID

;
CREATE TABLE credentials (
	name VARCHAR NOT NULL, 
	hash VARCHAR NOT NULL, 
	scope VARCHAR NOT NULL, 
	owner VARCHAR, 
	origins VARCHAR NOT NULL, 
	routes VARCHAR NOT NULL, 
	created_at INTEGER NOT NULL, 
	created_by VARCHAR NOT NULL, 
	until INTEGER, 
	mac VARCHAR NOT NULL, 
	revoked_at INTEGER, 
	used_at INTEGER, 
	PRIMARY KEY (name)
)
 WITHOUT ROWID

;
CREATE TABLE inbox (
	seq INTEGER NOT NULL, 
	source VARCHAR NOT NULL, 
	id VARCHAR NOT NULL, 
	ordering VARCHAR NOT NULL, 
	body BLOB NOT NULL, 
	received_at INTEGER NOT NULL, 
	handled_at INTEGER, 
	failures INTEGER NOT NULL, 
	error VARCHAR, 
	aside_at INTEGER, mac VARCHAR, 
	PRIMARY KEY (seq), 
	CONSTRAINT inbox_event UNIQUE (source, id)
);
CREATE TABLE keys (
	kid VARCHAR NOT NULL, 
	seen_at INTEGER NOT NULL, 
	PRIMARY KEY (kid)
)
 WITHOUT ROWID

;
CREATE TABLE messages (
	message VARCHAR NOT NULL, 
	ref VARCHAR NOT NULL, 
	asks VARCHAR NOT NULL, 
	mac VARCHAR NOT NULL, 
	PRIMARY KEY (message), 
	FOREIGN KEY(ref) REFERENCES calls (ref)
)
 WITHOUT ROWID

;
CREATE TABLE moves (
	old VARCHAR NOT NULL, 
	new VARCHAR NOT NULL, mac VARCHAR, 
	PRIMARY KEY (old)
)
 WITHOUT ROWID

;
CREATE TABLE outbox (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	ref VARCHAR NOT NULL, 
	route VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	attempts INTEGER NOT NULL, 
	not_before INTEGER NOT NULL, 
	error VARCHAR, 
	FOREIGN KEY(ref) REFERENCES calls (ref)
);
CREATE TABLE prompts (
	ref VARCHAR NOT NULL, 
	principal VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	at INTEGER NOT NULL, mac VARCHAR, 
	PRIMARY KEY (ref, principal, kind), 
	FOREIGN KEY(ref) REFERENCES calls (ref)
)
 WITHOUT ROWID

;
CREATE TABLE talks (
	place VARCHAR NOT NULL, 
	message VARCHAR NOT NULL, 
	ref VARCHAR, mac VARCHAR, 
	PRIMARY KEY (place)
)
 WITHOUT ROWID

;
CREATE TABLE turns (
	seq INTEGER NOT NULL, 
	id VARCHAR NOT NULL, 
	place VARCHAR NOT NULL, 
	identity VARCHAR NOT NULL, 
	requester VARCHAR NOT NULL, 
	message VARCHAR NOT NULL, 
	text VARCHAR NOT NULL, 
	said VARCHAR NOT NULL, 
	state BLOB NOT NULL, 
	done BOOLEAN NOT NULL, 
	mac VARCHAR NOT NULL, 
	PRIMARY KEY (seq), 
	CONSTRAINT turns_id UNIQUE (id)
);
CREATE TABLE votes (
	ref VARCHAR NOT NULL, 
	seq INTEGER NOT NULL, 
	principal VARCHAR NOT NULL, 
	approve BOOLEAN NOT NULL, 
	reason VARCHAR, 
	surface VARCHAR NOT NULL, 
	pressed_at INTEGER, 
	at INTEGER NOT NULL, 
	mac VARCHAR NOT NULL, identity VARCHAR, risk VARCHAR, 
	PRIMARY KEY (ref, seq), 
	FOREIGN KEY(ref) REFERENCES calls (ref)
)
 WITHOUT ROWID

;
CREATE INDEX calls_due ON calls (due_at) WHERE due_at is not null;
CREATE UNIQUE INDEX calls_key ON calls (requester, "key") WHERE "key" is not null;
CREATE INDEX inbox_open ON inbox (source, ordering, seq) WHERE handled_at is null and aside_at is null;
CREATE INDEX cards_message ON cards (message) WHERE message is not null;
CREATE INDEX outbox_card ON outbox (ref, route);
CREATE INDEX outbox_not_before ON outbox (not_before);
CREATE INDEX turns_open ON turns (seq) WHERE not done;
CREATE INDEX turns_place ON turns (place, seq);
DELETE FROM "sqlite_sequence";
COMMIT;
