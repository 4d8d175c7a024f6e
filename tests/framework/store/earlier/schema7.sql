BEGIN TRANSACTION;
CREATE TABLE activations (
    source TEXT NOT NULL, layer INTEGER NOT NULL, mark TEXT NOT NULL,
    file TEXT NOT NULL, row INTEGER NOT NULL, tokens INTEGER NOT NULL,   -- the first of so many rows of the array
    episode TEXT NOT NULL, turn INTEGER NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (source, layer, mark, episode, turn)
) STRICT, WITHOUT ROWID;
INSERT INTO "activations" VALUES('bags',-1,'message','bags-layer-1-message-0000.safetensors',0,5,'0/0/0',0,3082310636);
INSERT INTO "activations" VALUES('bags',-1,'message','bags-layer-1-message-0000.safetensors',5,5,'0/0/0',1,1510837793);
INSERT INTO "activations" VALUES('bags',-1,'message','bags-layer-1-message-0000.safetensors',10,5,'0/1/0',0,3705976873);
INSERT INTO "activations" VALUES('bags',-1,'message','bags-layer-1-message-0000.safetensors',15,5,'0/1/0',1,827418084);
INSERT INTO "activations" VALUES('model',1,'message','model-layer1-message-0000.safetensors',0,5,'0/0/0',0,3453102370);
INSERT INTO "activations" VALUES('model',1,'message','model-layer1-message-0000.safetensors',5,5,'0/0/0',1,543683823);
INSERT INTO "activations" VALUES('model',1,'message','model-layer1-message-0000.safetensors',10,5,'0/1/0',0,2688695780);
INSERT INTO "activations" VALUES('model',1,'message','model-layer1-message-0000.safetensors',15,5,'0/1/0',1,1308090409);
INSERT INTO "activations" VALUES('untrained',1,'message','untrained-layer1-message-0000.safetensors',0,5,'0/0/0',0,4157837223);
INSERT INTO "activations" VALUES('untrained',1,'message','untrained-layer1-message-0000.safetensors',5,5,'0/0/0',1,442913386);
INSERT INTO "activations" VALUES('untrained',1,'message','untrained-layer1-message-0000.safetensors',10,5,'0/1/0',0,1034570733);
INSERT INTO "activations" VALUES('untrained',1,'message','untrained-layer1-message-0000.safetensors',15,5,'0/1/0',1,3491730976);
CREATE TABLE calls (
    scope TEXT NOT NULL,        -- on whose behalf: an episode, or a part such as "reward judge"
    request TEXT NOT NULL,      -- SHA-256 of the model's name and everything that was asked
    model TEXT NOT NULL, turn INTEGER,
    text TEXT NOT NULL, reasoning TEXT, finish TEXT NOT NULL,
    prompt_tokens BLOB NOT NULL, tokens BLOB NOT NULL,   -- little-endian int32
    marks TEXT NOT NULL, n_prompt INTEGER, n_completion INTEGER, answered_by TEXT NOT NULL,
    interventions TEXT NOT NULL,    -- JSON list of those it was made with
    cached INTEGER NOT NULL,    -- whether it was given in an earlier run
    prompt TEXT NOT NULL,       -- JSON list of [role, text]
    seconds REAL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (scope, request)
) STRICT, WITHOUT ROWID;
INSERT INTO "calls" VALUES('0/0/0','6f075cf9b9dc6e3265713a7aeb5e0cbd10c52329c2236278906f38c34d27841a','planted',0,'RIGHT','I see.','stop',X'750000007300000065000000720000003A0000002000000023000000410000005F00000047000000230000000A0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E000000',X'49000000200000007300000065000000650000002E0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E0000005200000049000000470000004800000054000000','{"message":[6,7,8,9,10],"post":[35,36,37],"pre":[19,20,21]}',22,21,'','[]',0,'[["user","#A_G#"]]',9.03489999473095e-05,4211240904);
INSERT INTO "calls" VALUES('0/0/0','d6148f27b4e5dc64f6680b1f14447a5ec189bb541d25721fa5406e9739972ab1','planted',1,'RIGHT','I see.','stop',X'750000007300000065000000720000003A00000020000000230000005F0000004100000047000000230000000A0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E000000',X'49000000200000007300000065000000650000002E0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E0000005200000049000000470000004800000054000000','{"message":[6,7,8,9,10],"post":[35,36,37],"pre":[19,20,21]}',22,21,'','[]',0,'[["user","#_AG#"]]',8.0742000136524438858e-05,2524819101);
INSERT INTO "calls" VALUES('0/1/0','9cfb7161fe8225338b43c3a74093d63aec66afcc04420ecf1e60d17a9e5dd62d','planted',0,'RIGHT','I see.','stop',X'750000007300000065000000720000003A0000002000000023000000410000005F00000047000000230000000A0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E000000',X'49000000200000007300000065000000650000002E0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E0000005200000049000000470000004800000054000000','{"message":[6,7,8,9,10],"post":[35,36,37],"pre":[19,20,21]}',22,21,'','[]',0,'[["user","#A_G#"]]',1.08653999632224440574e-04,822635337);
INSERT INTO "calls" VALUES('0/1/0','db9257fa9ffd618085b81e2dcd5920389372a11d990a3bb62446368621bc820e','planted',1,'RIGHT','I see.','stop',X'750000007300000065000000720000003A00000020000000230000005F0000004100000047000000230000000A0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E000000',X'49000000200000007300000065000000650000002E0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E0000005200000049000000470000004800000054000000','{"message":[6,7,8,9,10],"post":[35,36,37],"pre":[19,20,21]}',22,21,'','[]',0,'[["user","#_AG#"]]',9.07009998627472668886e-05,3886822386);
INSERT INTO "calls" VALUES('reward_model progress-judge','25f07a6019f9b7ae70621daa9132fc5e159cfc59d6a10aa7369b2956a587dccc','appraising',NULL,'0.000','I see.','stop',X'750000007300000065000000720000003A00000020000000480000006F00000077000000200000006D000000750000006300000068000000200000006F00000066000000200000007400000068000000650000002000000077000000610000007900000020000000740000006F0000002000000074000000680000006500000020000000670000006F000000610000006C00000020000000690000007300000020000000640000006F0000006E000000650000002C0000002000000066000000720000006F0000006D000000200000003000000020000000740000006F00000020000000310000003F0000000A00000023000000410000005F00000047000000230000000A0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E000000',X'49000000200000007300000065000000650000002E0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E000000300000002E000000300000003000000030000000','{"message":[6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64],"post":[89,90,91],"pre":[73,74,75]}',76,21,'','[]',0,'[["user","How much of the way to the goal is done, from 0 to 1?\n#A_G#"]]',8.49799998832168e-05,1421502825);
INSERT INTO "calls" VALUES('reward_model progress-judge','4d2a71aded8bd2af7777a985c5c81fa42521065f61ca85145eab875954a958c6','appraising',NULL,'0.500','I see.','stop',X'750000007300000065000000720000003A00000020000000480000006F00000077000000200000006D000000750000006300000068000000200000006F00000066000000200000007400000068000000650000002000000077000000610000007900000020000000740000006F0000002000000074000000680000006500000020000000670000006F000000610000006C00000020000000690000007300000020000000640000006F0000006E000000650000002C0000002000000066000000720000006F0000006D000000200000003000000020000000740000006F00000020000000310000003F0000000A000000230000005F0000004100000047000000230000000A0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E000000',X'49000000200000007300000065000000650000002E0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E000000300000002E000000350000003000000030000000','{"message":[6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64],"post":[89,90,91],"pre":[73,74,75]}',76,21,'','[]',0,'[["user","How much of the way to the goal is done, from 0 to 1?\n#_AG#"]]',1.28179999592248350381e-04,2586583459);
CREATE TABLE episodes (
    episode TEXT PRIMARY KEY,   -- stratum/world/repeat
    stratum INTEGER NOT NULL, world INTEGER NOT NULL, repeat INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    world_id TEXT NOT NULL, base TEXT NOT NULL, facts TEXT NOT NULL, world_labels TEXT NOT NULL, labels TEXT NOT NULL,
    horizon INTEGER NOT NULL,
    ending TEXT, failure TEXT NOT NULL DEFAULT '', final_state TEXT, turns INTEGER, checksum INTEGER NOT NULL
) STRICT;
INSERT INTO "episodes" VALUES('0/0/0',0,0,0,1685470715032074123,'0 of 3','','{"goal":[1,3],"objective":"Reach the last cell.","rows":["#####","#___#","#####"]}','{"distance":2}','{"distance":2}',9,'terminated','','{"facts":{"agent":[1,3]},"index":2}',2,2610169153);
INSERT INTO "episodes" VALUES('0/1/0',0,1,0,4026466555029985035,'0 of 3','','{"goal":[1,3],"objective":"Reach the last cell.","rows":["#####","#___#","#####"]}','{"distance":2}','{"distance":2}',9,'terminated','','{"facts":{"agent":[1,3]},"index":2}',2,3459183187);
CREATE TABLE facts (    -- about the run, e.g. which model answered
    name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL
) STRICT;
INSERT INTO "facts" VALUES('strata','[{}]',2162451135);
INSERT INTO "facts" VALUES('episodes','2',3158126857);
INSERT INTO "facts" VALUES('provenance','{"models":{},"notice":"","packages":{"gde-eval":"0.2.0","numpy":"2.4.6","pydantic":"2.14.3","scikit-learn":"1.9.1","scipy":"1.17.1","torch":"2.13.0+cpu","transformers":"5.23.0"},"parts":{"appraising":"gde.testing.plugin:appraising v1","asking":"gde.testing.plugin:asking v1","corridor":"gde.testing.plugin:corridor v1","html":"gde.shipped.plugin:html v1","moves":"gde.testing.plugin:moves v1","planted":"gde.testing.plugin:planted v1","progress-judge":"gde.testing.plugin:progress-judge v1","serial":"gde.shipped.plugin:serial v1","success":"behaviour:success v1"},"plan":{"agent":{"model":"planted","use":"asking"},"env":{"length":3,"use":"corridor"},"executor":{"use":"serial"},"metric":[{"use":"success"}],"model":{"width":64},"probe":[{"ahead":3,"layer":[1],"mark":"message","use":"moves"}],"report":[{"use":"html"}],"reward":[{"model":"appraising","use":"progress-judge"}],"run":{"concurrency":32,"episode_seconds":"none","episodes":2,"max_calls":"none","max_cost":"none","max_tokens":"none","part_seconds":"none","repeats":1,"run_seconds":"none","seed":0,"turn_seconds":"none"},"version":1},"plan_hash":"6221c186ce7c","python":"3.11.7","worlds":""}',3825097383);
INSERT INTO "facts" VALUES('models','{"planted":{"n_layers":2,"name":"planted","notice":"No real model: planted.","versions":{},"width":64},"appraising":{"n_layers":0,"name":"scripted","notice":"","versions":{},"width":0}}',863153853);
CREATE TABLE failures (stage TEXT NOT NULL, subject TEXT NOT NULL, reason TEXT NOT NULL) STRICT;
INSERT INTO "failures" VALUES('probe','moves-ridge-layer1-message-none','wanted worlds to train on and worlds to test on, got 0 and 1');
INSERT INTO "failures" VALUES('probe','moves-ridge-layer1-message-shuffled','wanted worlds to train on and worlds to test on, got 0 and 1');
INSERT INTO "failures" VALUES('probe','moves-ridge-layer1-message-untrained','wanted worlds to train on and worlds to test on, got 0 and 1');
INSERT INTO "failures" VALUES('probe','moves-ridge-layer1-message-coordinates','wanted worlds to train on and worlds to test on, got 0 and 1');
INSERT INTO "failures" VALUES('probe','moves-ridge-layer1-message-embeddings','wanted worlds to train on and worlds to test on, got 0 and 1');
INSERT INTO "failures" VALUES('report','html','UndefinedError: No aggregated item, sequence was empty.');
CREATE TABLE interventions (    -- each once, however many calls it was made in
    intervention TEXT PRIMARY KEY,  -- SHA-256 of all that follows
    layer INTEGER NOT NULL, mark TEXT NOT NULL, kind TEXT NOT NULL,
    shape TEXT NOT NULL, vector BLOB NOT NULL,  -- little-endian float32
    checksum INTEGER NOT NULL
) STRICT;
CREATE TABLE judgements (   -- how the rewards of an episode came about, where the reward model says it
    model TEXT NOT NULL, episode TEXT NOT NULL, made_by TEXT NOT NULL, counts TEXT NOT NULL,   -- JSON
    checksum INTEGER NOT NULL,
    PRIMARY KEY (model, episode)
) STRICT, WITHOUT ROWID;
CREATE TABLE measurements (
    name TEXT NOT NULL, place TEXT NOT NULL, value REAL, unit TEXT NOT NULL, n INTEGER NOT NULL,
    low REAL, high REAL, reason TEXT NOT NULL, source TEXT NOT NULL
) STRICT;
INSERT INTO "measurements" VALUES('success','{}',1.0,'share',2,NULL,NULL,'','success');
INSERT INTO "measurements" VALUES('moves','{"control":"none","layer":1,"mark":"message","variant":"ridge"}',NULL,'',0,NULL,NULL,'wanted worlds to train on and worlds to test on, got 0 and 1','moves');
INSERT INTO "measurements" VALUES('moves','{"control":"shuffled","layer":1,"mark":"message","variant":"ridge"}',NULL,'',0,NULL,NULL,'wanted worlds to train on and worlds to test on, got 0 and 1','moves');
INSERT INTO "measurements" VALUES('moves','{"control":"untrained","layer":1,"mark":"message","variant":"ridge"}',NULL,'',0,NULL,NULL,'wanted worlds to train on and worlds to test on, got 0 and 1','moves');
INSERT INTO "measurements" VALUES('moves','{"control":"coordinates","layer":1,"mark":"message","variant":"ridge"}',NULL,'',0,NULL,NULL,'wanted worlds to train on and worlds to test on, got 0 and 1','moves');
INSERT INTO "measurements" VALUES('moves','{"control":"embeddings","layer":1,"mark":"message","variant":"ridge"}',NULL,'',0,NULL,NULL,'wanted worlds to train on and worlds to test on, got 0 and 1','moves');
CREATE TABLE probes (
    place INTEGER NOT NULL,     -- arms are listed in the order in which they were first fitted
    probe TEXT NOT NULL, arm TEXT PRIMARY KEY,
    made_by TEXT NOT NULL,      -- identifies probe, configuration and activations
    report TEXT NOT NULL,       -- JSON
    checksum INTEGER NOT NULL
) STRICT;
INSERT INTO "probes" VALUES(0,'moves','moves-ridge-layer1-message-none','2da6b296056ff83cf126755f74af48158da2cead9483639e4618fa1bfafc7195','{"arm":{"control":"none","layer":1,"mark":"message","probe":"moves","variant":"ridge"},"classes":[],"measurements":[],"n_test":0,"n_train":0,"reason":"wanted worlds to train on and worlds to test on, got 0 and 1","rows":[]}',3533282642);
INSERT INTO "probes" VALUES(1,'moves','moves-ridge-layer1-message-shuffled','259ddde432a0d9193f71fae189f50a065b5ac33af323f9f19782ac2aad268da4','{"arm":{"control":"shuffled","layer":1,"mark":"message","probe":"moves","variant":"ridge"},"classes":[],"measurements":[],"n_test":0,"n_train":0,"reason":"wanted worlds to train on and worlds to test on, got 0 and 1","rows":[]}',2202314648);
INSERT INTO "probes" VALUES(2,'moves','moves-ridge-layer1-message-untrained','c66f0a6ab4a579f87a66cf4cc70d703d1fe45ab843ec24dadf98325383355c72','{"arm":{"control":"untrained","layer":1,"mark":"message","probe":"moves","variant":"ridge"},"classes":[],"measurements":[],"n_test":0,"n_train":0,"reason":"wanted worlds to train on and worlds to test on, got 0 and 1","rows":[]}',76907619);
INSERT INTO "probes" VALUES(3,'moves','moves-ridge-layer1-message-coordinates','9bb2b613e4e8050dc3387b3633f0bf9bf75b8a1507ca19569b95e4ab23cda3a5','{"arm":{"control":"coordinates","layer":1,"mark":"message","probe":"moves","variant":"ridge"},"classes":[],"measurements":[],"n_test":0,"n_train":0,"reason":"wanted worlds to train on and worlds to test on, got 0 and 1","rows":[]}',1989322487);
INSERT INTO "probes" VALUES(4,'moves','moves-ridge-layer1-message-embeddings','b1d78231097a1b87b3789b3fff03ce5d68db4509ee6454ba48160c3ecf7fc3e5','{"arm":{"control":"embeddings","layer":1,"mark":"message","probe":"moves","variant":"ridge"},"classes":[],"measurements":[],"n_test":0,"n_train":0,"reason":"wanted worlds to train on and worlds to test on, got 0 and 1","rows":[]}',3010232165);
CREATE TABLE rewards (
    model TEXT NOT NULL, episode TEXT NOT NULL, turn INTEGER NOT NULL, value REAL, failure TEXT NOT NULL DEFAULT '',
    checksum INTEGER NOT NULL,
    PRIMARY KEY (model, episode, turn)
) STRICT, WITHOUT ROWID;
INSERT INTO "rewards" VALUES('progress-judge','0/0/0',0,0.0,'',3251423028);
INSERT INTO "rewards" VALUES('progress-judge','0/0/0',1,0.5,'',1351584071);
INSERT INTO "rewards" VALUES('progress-judge','0/1/0',0,0.0,'',1181355127);
INSERT INTO "rewards" VALUES('progress-judge','0/1/0',1,0.5,'',3609805316);
CREATE TABLE turns (
    episode TEXT NOT NULL, turn INTEGER NOT NULL,
    observation TEXT NOT NULL, actions TEXT,
    state TEXT, state_index INTEGER, optimal TEXT, value REAL,
    status TEXT NOT NULL, action TEXT, detail TEXT NOT NULL,
    completion TEXT,            -- the request of the call that decided it
    reward REAL NOT NULL, terminated INTEGER NOT NULL, truncated INTEGER NOT NULL, success REAL,
    probabilities TEXT,         -- JSON, of actions, where the agent tells them
    checksum INTEGER NOT NULL,
    PRIMARY KEY (episode, turn)
) STRICT;
INSERT INTO "turns" VALUES('0/0/0',0,'#A_G#','["LEFT","RIGHT"]','{"agent":[1,1]}',0,'["RIGHT"]',-2.0,'ok','RIGHT','','6f075cf9b9dc6e3265713a7aeb5e0cbd10c52329c2236278906f38c34d27841a',0.0,0,0,0.0,NULL,3198003081);
INSERT INTO "turns" VALUES('0/0/0',1,'#_AG#','["LEFT","RIGHT"]','{"agent":[1,2]}',1,'["RIGHT"]',-1.0,'ok','RIGHT','','d6148f27b4e5dc64f6680b1f14447a5ec189bb541d25721fa5406e9739972ab1',1.0,1,0,1.0,NULL,3417399404);
INSERT INTO "turns" VALUES('0/1/0',0,'#A_G#','["LEFT","RIGHT"]','{"agent":[1,1]}',0,'["RIGHT"]',-2.0,'ok','RIGHT','','9cfb7161fe8225338b43c3a74093d63aec66afcc04420ecf1e60d17a9e5dd62d',0.0,0,0,0.0,NULL,1649705261);
INSERT INTO "turns" VALUES('0/1/0',1,'#_AG#','["LEFT","RIGHT"]','{"agent":[1,2]}',1,'["RIGHT"]',-1.0,'ok','RIGHT','','db9257fa9ffd618085b81e2dcd5920389372a11d990a3bb62446368621bc820e',1.0,1,0,1.0,NULL,3049350307);
COMMIT;
PRAGMA user_version=7;
