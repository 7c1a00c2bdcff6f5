BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE events (
	match_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	table_id VARCHAR(64) NOT NULL, 
	name VARCHAR(32) NOT NULL, 
	link TEXT NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	PRIMARY KEY (match_id, seq), 
	FOREIGN KEY(match_id) REFERENCES matches (id)
);
INSERT INTO "events" VALUES(1,1,'1','MatchStarted','{"event":{"event":"MatchStarted","first":"outside","layout":"4x4","ply":1,"table":"1","time":0.0,"variant":"standard"},"evidence":"","previous":"2611bec1ee3c1bdb70334f8ef95bcf50d2d28d5608fb3154e8972429395dfbbc","seq":1,"written":"2026-05-01T12:00:01.000Z"}','bc3348689e2af806e7791e198e02850306eee68010c5b73356d0915a337a33ca');
INSERT INTO "events" VALUES(1,2,'1','MovePlayed','{"event":{"colour":"light","event":"MovePlayed","move":"a1+","ply":1,"ruled":false,"score":{"dark":0,"light":0},"table":"1","time":0.0},"evidence":"","previous":"bc3348689e2af806e7791e198e02850306eee68010c5b73356d0915a337a33ca","seq":2,"written":"2026-05-01T12:00:01.000Z"}','a9171b6f756643cf3f18de601ef6489ea611d8f551f625793cbd72a3b65d6143');
INSERT INTO "events" VALUES(1,3,'1','MovePlayed','{"event":{"colour":"dark","event":"MovePlayed","move":"a3><","ply":2,"ruled":false,"score":{"dark":0,"light":0},"table":"1","time":0.0},"evidence":"","previous":"a9171b6f756643cf3f18de601ef6489ea611d8f551f625793cbd72a3b65d6143","seq":3,"written":"2026-05-01T12:00:01.000Z"}','8a1c6f16a86b8c268667f0364b6c6ca8358ecbbaf6dcb21a943c19255767582c');
INSERT INTO "events" VALUES(1,4,'1','MovePlayed','{"event":{"colour":"light","event":"MovePlayed","move":"a2+","ply":3,"ruled":false,"score":{"dark":0,"light":0},"table":"1","time":0.0},"evidence":"","previous":"8a1c6f16a86b8c268667f0364b6c6ca8358ecbbaf6dcb21a943c19255767582c","seq":4,"written":"2026-05-01T12:00:01.000Z"}','d9d7a48e477e743c57cdfebad193b5543b71e2e6a230ddc3b7eee26b7c82686b');
INSERT INTO "events" VALUES(1,5,'1','MovePlayed','{"event":{"colour":"dark","event":"MovePlayed","move":"a4<>","ply":4,"ruled":false,"score":{"dark":0,"light":0},"table":"1","time":0.0},"evidence":"","previous":"d9d7a48e477e743c57cdfebad193b5543b71e2e6a230ddc3b7eee26b7c82686b","seq":5,"written":"2026-05-01T12:00:01.000Z"}','5e404044b7e0957d4d24a5a770dd35cbf00a9620d19568b0b2c7bf8866c71b21');
INSERT INTO "events" VALUES(1,6,'1','MovePlayed','{"event":{"colour":"light","event":"MovePlayed","move":"b2><","ply":5,"ruled":false,"score":{"dark":0,"light":0},"table":"1","time":0.0},"evidence":"","previous":"5e404044b7e0957d4d24a5a770dd35cbf00a9620d19568b0b2c7bf8866c71b21","seq":6,"written":"2026-05-01T12:00:01.000Z"}','06b284bc72bc2b02edb4e194ec1dda5d3ff875b1f083273a9f94d6c9d960ab86');
INSERT INTO "events" VALUES(1,7,'1','MovePlayed','{"event":{"colour":"dark","event":"MovePlayed","move":"c2+","ply":6,"ruled":false,"score":{"dark":0,"light":0},"table":"1","time":0.0},"evidence":"","previous":"06b284bc72bc2b02edb4e194ec1dda5d3ff875b1f083273a9f94d6c9d960ab86","seq":7,"written":"2026-05-01T12:00:01.000Z"}','919537fcced7afd0e63547dec036857e1c75732ef7d104d1e1d7ffd1c6addde1');
INSERT INTO "events" VALUES(1,8,'1','MovePlayed','{"event":{"colour":"light","event":"MovePlayed","move":"c3<>","ply":7,"ruled":false,"score":{"dark":0,"light":1},"table":"1","time":0.0},"evidence":"","previous":"919537fcced7afd0e63547dec036857e1c75732ef7d104d1e1d7ffd1c6addde1","seq":8,"written":"2026-05-01T12:00:01.000Z"}','9e266143e754c48d47adca4bda2c85e91b7fa9c63b80223da71a43165137bcc0');
INSERT INTO "events" VALUES(1,9,'1','MovePlayed','{"event":{"colour":"dark","event":"MovePlayed","move":"c1x","ply":8,"ruled":false,"score":{"dark":0,"light":1},"table":"1","time":0.0},"evidence":"","previous":"9e266143e754c48d47adca4bda2c85e91b7fa9c63b80223da71a43165137bcc0","seq":9,"written":"2026-05-01T12:00:01.000Z"}','79547f2bda6fd8d9b75397851b582a661369e43822e4661072bf1b128bac3efa');
INSERT INTO "events" VALUES(1,10,'1','MovePlayed','{"event":{"colour":"light","event":"MovePlayed","move":"d2><","ply":9,"ruled":false,"score":{"dark":0,"light":1},"table":"1","time":0.0},"evidence":"7b620021d96ad2c03db948838c2653d86ff15442e43b9bbbd362c80ee21ae8a2","previous":"79547f2bda6fd8d9b75397851b582a661369e43822e4661072bf1b128bac3efa","seq":10,"written":"2026-05-01T12:00:02.000Z"}','3dfd8d3883529c1fbb9ca6e01232a99f4e7d5308d2e1a50b8f9917637f0b3a47');
INSERT INTO "events" VALUES(1,11,'1','MovePlayed','{"event":{"colour":"dark","event":"MovePlayed","move":"d3+","ply":10,"ruled":false,"score":{"dark":0,"light":1},"table":"1","time":0.0},"evidence":"7b620021d96ad2c03db948838c2653d86ff15442e43b9bbbd362c80ee21ae8a2","previous":"3dfd8d3883529c1fbb9ca6e01232a99f4e7d5308d2e1a50b8f9917637f0b3a47","seq":11,"written":"2026-05-01T12:00:02.000Z"}','e4df078785969fc53b56ea45ffb6980c1d719870c1eabeb9a61d37a1670437e4');
INSERT INTO "events" VALUES(1,12,'1','MovePlayed','{"event":{"colour":"light","event":"MovePlayed","move":"d4x","ply":11,"ruled":false,"score":{"dark":0,"light":2},"table":"1","time":0.0},"evidence":"7b620021d96ad2c03db948838c2653d86ff15442e43b9bbbd362c80ee21ae8a2","previous":"e4df078785969fc53b56ea45ffb6980c1d719870c1eabeb9a61d37a1670437e4","seq":12,"written":"2026-05-01T12:00:02.000Z"}','75c5505cce12ddfe52ba62e2e9098b87ae2aa7edbb8d150c15a1c8ceb97f44d8');
INSERT INTO "events" VALUES(1,13,'1','PassForced','{"event":{"colour":"dark","event":"PassForced","ply":12,"table":"1","time":0.0},"evidence":"7b620021d96ad2c03db948838c2653d86ff15442e43b9bbbd362c80ee21ae8a2","previous":"75c5505cce12ddfe52ba62e2e9098b87ae2aa7edbb8d150c15a1c8ceb97f44d8","seq":13,"written":"2026-05-01T12:00:02.000Z"}','60a113ad713ee85ea77b857a5a80a758bfabca82357a4b4ee8f3f6ac8aa7653a');
INSERT INTO "events" VALUES(1,14,'1','MovePlayed','{"event":{"colour":"light","event":"MovePlayed","move":"b4x","ply":13,"ruled":false,"score":{"dark":0,"light":3},"table":"1","time":0.0},"evidence":"7b620021d96ad2c03db948838c2653d86ff15442e43b9bbbd362c80ee21ae8a2","previous":"60a113ad713ee85ea77b857a5a80a758bfabca82357a4b4ee8f3f6ac8aa7653a","seq":14,"written":"2026-05-01T12:00:02.000Z"}','e4d00ecf4df30b2a6db8002bf60502cd889d0efdb0c677088275e3fce8ad2e5f');
INSERT INTO "events" VALUES(1,15,'1','PassForced','{"event":{"colour":"dark","event":"PassForced","ply":14,"table":"1","time":0.0},"evidence":"7b620021d96ad2c03db948838c2653d86ff15442e43b9bbbd362c80ee21ae8a2","previous":"e4d00ecf4df30b2a6db8002bf60502cd889d0efdb0c677088275e3fce8ad2e5f","seq":15,"written":"2026-05-01T12:00:02.000Z"}','f2d6632d6be4f382cb0511f25646a0b4bea805a5ebc6b1785b01c1805e83a387');
INSERT INTO "events" VALUES(1,16,'1','MovePlayed','{"event":{"colour":"light","event":"MovePlayed","move":"b3<>","ply":15,"ruled":false,"score":{"dark":0,"light":4},"table":"1","time":0.0},"evidence":"7b620021d96ad2c03db948838c2653d86ff15442e43b9bbbd362c80ee21ae8a2","previous":"f2d6632d6be4f382cb0511f25646a0b4bea805a5ebc6b1785b01c1805e83a387","seq":16,"written":"2026-05-01T12:00:02.000Z"}','8b94cbdf4cc828601175cbe547217d62f1d6a4ff0159919b09e3a72e8260579b');
INSERT INTO "events" VALUES(1,17,'1','LastChance','{"event":{"colour":"dark","event":"LastChance","legal":["b1","d1"],"ply":16,"table":"1","time":0.0},"evidence":"7b620021d96ad2c03db948838c2653d86ff15442e43b9bbbd362c80ee21ae8a2","previous":"8b94cbdf4cc828601175cbe547217d62f1d6a4ff0159919b09e3a72e8260579b","seq":17,"written":"2026-05-01T12:00:02.000Z"}','e6f8bd7986ccece5d4e72773c6b1a448dc58ddb8d414a54bb6607f6866f94d74');
INSERT INTO "events" VALUES(1,18,'1','MovePlayed','{"event":{"colour":"dark","event":"MovePlayed","move":"b1<>","ply":16,"ruled":false,"score":{"dark":1,"light":4},"table":"1","time":0.0},"evidence":"7b620021d96ad2c03db948838c2653d86ff15442e43b9bbbd362c80ee21ae8a2","previous":"e6f8bd7986ccece5d4e72773c6b1a448dc58ddb8d414a54bb6607f6866f94d74","seq":18,"written":"2026-05-01T12:00:02.000Z"}','31e16b93b273c2cc61137a5fb76c122768f9997fbd53c2d9dbb3a4136aa6fea4');
INSERT INTO "events" VALUES(1,19,'1','GameOver','{"event":{"event":"GameOver","moves":["a1+","a3><","a2+","a4<>","b2><","c2+","c3<>","c1x","d2><","d3+","d4x","-","b4x","-","b3<>","b1<>"],"ply":16,"score":{"dark":1,"light":4},"table":"1","time":0.0,"winner":"light"},"evidence":"7b620021d96ad2c03db948838c2653d86ff15442e43b9bbbd362c80ee21ae8a2","previous":"31e16b93b273c2cc61137a5fb76c122768f9997fbd53c2d9dbb3a4136aa6fea4","seq":19,"written":"2026-05-01T12:00:02.000Z"}','a8cbbaba56f8589a7ccd4b1b118209306f3ba56b6295e1ebeeb640ef1bc5cf98');
CREATE TABLE matches (
	id INTEGER NOT NULL, 
	table_id VARCHAR(64) NOT NULL, 
	link TEXT NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	length INTEGER NOT NULL, 
	head VARCHAR(64) NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "matches" VALUES(1,'1','{"format":1,"match":{"first":"outside","layout":"####/####/####/####","sets":1,"table":"1","tags":{"Event":"Kitchen cup"},"variant":"standard"},"people":"f6149b47b34edc23dda8bf5657dfc863782731ac2f7d44176eafd67531b96174","started":"2026-05-01T12:00:00.000Z"}','2611bec1ee3c1bdb70334f8ef95bcf50d2d28d5608fb3154e8972429395dfbbc',19,'a8cbbaba56f8589a7ccd4b1b118209306f3ba56b6295e1ebeeb640ef1bc5cf98');
CREATE TABLE people (
	match_id INTEGER NOT NULL, 
	table_id VARCHAR(64) NOT NULL, 
	told TEXT NOT NULL, 
	PRIMARY KEY (match_id), 
	FOREIGN KEY(match_id) REFERENCES matches (id)
);
INSERT INTO "people" VALUES(1,'1','{"salt":"e0f56b85bfa1367717a73becf9e83a29","told":{"Dark":"Ben","Light":"Ann"}}');
CREATE TABLE pictures (
	match_id INTEGER NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	table_id VARCHAR(64) NOT NULL, 
	evidence BLOB NOT NULL, 
	PRIMARY KEY (match_id, digest), 
	FOREIGN KEY(match_id) REFERENCES matches (id)
);
INSERT INTO "pictures" VALUES(1,'7b620021d96ad2c03db948838c2653d86ff15442e43b9bbbd362c80ee21ae8a2','1',X'FFD820612070696374757265');
CREATE INDEX ix_matches_table_id ON matches (table_id);
COMMIT;
