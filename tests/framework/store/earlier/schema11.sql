BEGIN TRANSACTION;
CREATE TABLE activations (
    source TEXT NOT NULL, layer INTEGER NOT NULL, position TEXT NOT NULL,
    file TEXT NOT NULL, row INTEGER NOT NULL, tokens INTEGER NOT NULL,   -- the first of so many rows of the array
    episode TEXT NOT NULL, turn INTEGER NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (source, layer, position, episode, turn)
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
INSERT INTO "activations" VALUES('untrained-1',1,'message','untrained-1-layer1-message-0000.safetensors',0,5,'0/0/0',0,2440019308);
INSERT INTO "activations" VALUES('untrained-1',1,'message','untrained-1-layer1-message-0000.safetensors',5,5,'0/0/0',1,2094686369);
INSERT INTO "activations" VALUES('untrained-1',1,'message','untrained-1-layer1-message-0000.safetensors',10,5,'0/1/0',0,830139623);
INSERT INTO "activations" VALUES('untrained-1',1,'message','untrained-1-layer1-message-0000.safetensors',15,5,'0/1/0',1,3704566058);
INSERT INTO "activations" VALUES('untrained-2',1,'message','untrained-2-layer1-message-0000.safetensors',0,5,'0/0/0',0,2463451169);
INSERT INTO "activations" VALUES('untrained-2',1,'message','untrained-2-layer1-message-0000.safetensors',5,5,'0/0/0',1,2137036268);
INSERT INTO "activations" VALUES('untrained-2',1,'message','untrained-2-layer1-message-0000.safetensors',10,5,'0/1/0',0,957639487);
INSERT INTO "activations" VALUES('untrained-2',1,'message','untrained-2-layer1-message-0000.safetensors',15,5,'0/1/0',1,3567367922);
CREATE TABLE calls (
    scope TEXT NOT NULL,        -- on whose behalf: an episode, or a part such as "reward judge"
    request TEXT NOT NULL,      -- SHA-256 of the model's name and everything that was asked
    model TEXT NOT NULL, turn INTEGER,
    text TEXT NOT NULL, reasoning TEXT, finish TEXT NOT NULL,
    prompt_tokens BLOB NOT NULL, tokens BLOB NOT NULL,   -- little-endian int32
    positions TEXT NOT NULL, n_prompt INTEGER, n_completion INTEGER, answered_by TEXT NOT NULL,
    interventions TEXT NOT NULL,    -- JSON list of those it was made with
    cached INTEGER NOT NULL,    -- whether it was given in an earlier run
    prompt TEXT NOT NULL,       -- JSON list of [role, text]
    seconds REAL,
    effort TEXT,                -- that a server was sent
    logprobs BLOB NOT NULL,     -- of the completion's tokens, little-endian float32
    checksum INTEGER NOT NULL,
    PRIMARY KEY (scope, request)
) STRICT, WITHOUT ROWID;
INSERT INTO "calls" VALUES('0/0/0','6f075cf9b9dc6e3265713a7aeb5e0cbd10c52329c2236278906f38c34d27841a','planted',0,'RIGHT','I see.','stop',X'750000007300000065000000720000003A0000002000000023000000410000005F00000047000000230000000A0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E000000',X'49000000200000007300000065000000650000002E0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E0000005200000049000000470000004800000054000000','{"message":[6,7,8,9,10],"post":[35,36,37],"pre":[19,20,21]}',22,21,'','[]',0,'[["user","#A_G#"]]',4.41829997726017609238e-05,NULL,X'',1115559999);
INSERT INTO "calls" VALUES('0/0/0','d6148f27b4e5dc64f6680b1f14447a5ec189bb541d25721fa5406e9739972ab1','planted',1,'RIGHT','I see.','stop',X'750000007300000065000000720000003A00000020000000230000005F0000004100000047000000230000000A0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E000000',X'49000000200000007300000065000000650000002E0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E0000005200000049000000470000004800000054000000','{"message":[6,7,8,9,10],"post":[35,36,37],"pre":[19,20,21]}',22,21,'','[]',0,'[["user","#_AG#"]]',7.34080003894632682204e-05,NULL,X'',4111721567);
INSERT INTO "calls" VALUES('0/1/0','9cfb7161fe8225338b43c3a74093d63aec66afcc04420ecf1e60d17a9e5dd62d','planted',0,'RIGHT','I see.','stop',X'750000007300000065000000720000003A0000002000000023000000410000005F00000047000000230000000A0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E000000',X'49000000200000007300000065000000650000002E0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E0000005200000049000000470000004800000054000000','{"message":[6,7,8,9,10],"post":[35,36,37],"pre":[19,20,21]}',22,21,'','[]',0,'[["user","#A_G#"]]',1.88449994311667978763e-05,NULL,X'',3069451856);
INSERT INTO "calls" VALUES('0/1/0','db9257fa9ffd618085b81e2dcd5920389372a11d990a3bb62446368621bc820e','planted',1,'RIGHT','I see.','stop',X'750000007300000065000000720000003A00000020000000230000005F0000004100000047000000230000000A0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E000000',X'49000000200000007300000065000000650000002E0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E0000005200000049000000470000004800000054000000','{"message":[6,7,8,9,10],"post":[35,36,37],"pre":[19,20,21]}',22,21,'','[]',0,'[["user","#_AG#"]]',1.81639989023096859455e-05,NULL,X'',1949247517);
INSERT INTO "calls" VALUES('reward_model progress-judge','25f07a6019f9b7ae70621daa9132fc5e159cfc59d6a10aa7369b2956a587dccc','appraising',NULL,'0.000','I see.','stop',X'750000007300000065000000720000003A00000020000000480000006F00000077000000200000006D000000750000006300000068000000200000006F00000066000000200000007400000068000000650000002000000077000000610000007900000020000000740000006F0000002000000074000000680000006500000020000000670000006F000000610000006C00000020000000690000007300000020000000640000006F0000006E000000650000002C0000002000000066000000720000006F0000006D000000200000003000000020000000740000006F00000020000000310000003F0000000A00000023000000410000005F00000047000000230000000A0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E000000',X'49000000200000007300000065000000650000002E0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E000000300000002E000000300000003000000030000000','{"message":[6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64],"post":[89,90,91],"pre":[73,74,75]}',76,21,'','[]',0,'[["user","How much of the way to the goal is done, from 0 to 1?\n#A_G#"]]',6.32089995633577927947e-05,NULL,X'',2555854877);
INSERT INTO "calls" VALUES('reward_model progress-judge','4d2a71aded8bd2af7777a985c5c81fa42521065f61ca85145eab875954a958c6','appraising',NULL,'0.500','I see.','stop',X'750000007300000065000000720000003A00000020000000480000006F00000077000000200000006D000000750000006300000068000000200000006F00000066000000200000007400000068000000650000002000000077000000610000007900000020000000740000006F0000002000000074000000680000006500000020000000670000006F000000610000006C00000020000000690000007300000020000000640000006F0000006E000000650000002C0000002000000066000000720000006F0000006D000000200000003000000020000000740000006F00000020000000310000003F0000000A000000230000005F0000004100000047000000230000000A0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E000000',X'49000000200000007300000065000000650000002E0000003C0000007C000000610000006E000000730000007700000065000000720000007C0000003E000000300000002E000000350000003000000030000000','{"message":[6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64],"post":[89,90,91],"pre":[73,74,75]}',76,21,'','[]',0,'[["user","How much of the way to the goal is done, from 0 to 1?\n#_AG#"]]',5.1666998842847533524e-05,NULL,X'',711360305);
CREATE TABLE episodes (
    episode TEXT PRIMARY KEY,   -- condition/world/repeat
    condition INTEGER NOT NULL, world INTEGER NOT NULL, repeat INTEGER NOT NULL,
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
INSERT INTO "facts" VALUES('conditions','[{}]',1140572149);
INSERT INTO "facts" VALUES('episodes','2',3158126857);
INSERT INTO "facts" VALUES('provenance','{"models":{},"notice":"","packages":{"gde-eval":"0.2.0","numpy":"2.4.6","pydantic":"2.14.3","scikit-learn":"1.9.1","scipy":"1.17.1","torch":"2.13.0+cpu","transformers":"5.23.0"},"parts":{"appraising":"gde.testing.plugin:appraising v1","asking":"gde.testing.plugin:asking v1","corridor":"gde.testing.plugin:corridor v1","html":"reporting:html v1","moves":"gde.testing.plugin:moves v1","planted":"gde.testing.plugin:planted v1","progress-judge":"gde.testing.plugin:progress-judge v1","serial":"executors:serial v1","success":"behaviour:success v1"},"plan":{"agent":{"model":"planted","use":"asking"},"env":{"length":3,"use":"corridor"},"executor":{"use":"serial"},"metric":[{"use":"success"}],"model":[{"use":"planted","width":64},{"use":"appraising"}],"probe":[{"ahead":3,"layer":[1],"position":"message","use":"moves"}],"report":[{"use":"html"}],"reward":[{"model":"appraising","use":"progress-judge"}],"run":{"concurrency":32,"episode_seconds":"none","episodes":2,"initialisations":3,"learning":true,"max_calls":"none","max_cost":"none","max_tokens":"none","part_seconds":"none","repeats":1,"run_seconds":"none","seed":0,"turn_seconds":"none"},"version":2},"plan_hash":"ddbe2c6462f3","python":"3.11.7","worlds":""}',3217746908);
INSERT INTO "facts" VALUES('models','{"planted":{"n_layers":2,"name":"planted","notice":"No real model: planted.","versions":{},"width":64},"appraising":{"n_layers":0,"name":"scripted","notice":"","versions":{},"width":0}}',863153853);
INSERT INTO "facts" VALUES('asked ["","planted","2026-11-25"]','{}',1584009405);
INSERT INTO "facts" VALUES('asked ["reward_model progress-judge","appraising","2026-11-25"]','{}',557962247);
CREATE TABLE failures (
    stage TEXT NOT NULL, subject TEXT NOT NULL, reason TEXT NOT NULL, checksum INTEGER NOT NULL
) STRICT;
INSERT INTO "failures" VALUES('probe','moves-ridge-layer1-message-none','wanted worlds to train on and worlds to test on, got 0 and 1',3462215062);
INSERT INTO "failures" VALUES('probe','moves-ridge-layer1-message-shuffled','wanted worlds to train on and worlds to test on, got 0 and 1',4103184755);
INSERT INTO "failures" VALUES('probe','moves-ridge-layer1-message-untrained','wanted worlds to train on and worlds to test on, got 0 and 1',3704025841);
INSERT INTO "failures" VALUES('probe','moves-ridge-layer1-message-coordinates','wanted worlds to train on and worlds to test on, got 0 and 1',93076916);
INSERT INTO "failures" VALUES('probe','moves-ridge-layer1-message-embeddings','wanted worlds to train on and worlds to test on, got 0 and 1',4028840453);
CREATE TABLE files (        -- arrays, result and reports; a file that is being replaced has no row
    name TEXT PRIMARY KEY, digest TEXT NOT NULL, checksum INTEGER NOT NULL
) STRICT;
INSERT INTO "files" VALUES('activations/model-layer1-message-0000.safetensors','a537ea9a',1838465572);
INSERT INTO "files" VALUES('activations/bags-layer-1-message-0000.safetensors','df336e23',2584642393);
INSERT INTO "files" VALUES('activations/untrained-layer1-message-0000.safetensors','5864d641',3620779560);
INSERT INTO "files" VALUES('activations/untrained-1-layer1-message-0000.safetensors','5723440a',2717703198);
INSERT INTO "files" VALUES('activations/untrained-2-layer1-message-0000.safetensors','445c98e5',186708423);
INSERT INTO "files" VALUES('result.json','c1547f08',1148193669);
INSERT INTO "files" VALUES('report.html','cad67b7e',3997731458);
CREATE TABLE head (         -- what the checksums of each table add up to, see gde.store.head
    "table" TEXT PRIMARY KEY, total INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "head" VALUES('activations',44442074290);
INSERT INTO "head" VALUES('calls',13513196121);
INSERT INTO "head" VALUES('commits',35);
INSERT INTO "head" VALUES('episodes',6069352340);
INSERT INTO "head" VALUES('facts',10521571419);
INSERT INTO "head" VALUES('failures',15391343027);
INSERT INTO "head" VALUES('files',16094224273);
INSERT INTO "head" VALUES('interventions',0);
INSERT INTO "head" VALUES('judgements',4393876042);
INSERT INTO "head" VALUES('measurements',17587798734);
INSERT INTO "head" VALUES('probes',11199667826);
INSERT INTO "head" VALUES('replays',0);
INSERT INTO "head" VALUES('requests',11126765956);
INSERT INTO "head" VALUES('rewards',9394167542);
INSERT INTO "head" VALUES('turns',11314458053);
CREATE TABLE interventions (    -- each once, however many calls it was made in
    intervention TEXT PRIMARY KEY,  -- SHA-256 of all that follows
    layer INTEGER NOT NULL, position TEXT NOT NULL, kind TEXT NOT NULL,
    shape TEXT NOT NULL, vector BLOB NOT NULL,  -- little-endian float32
    checksum INTEGER NOT NULL
) STRICT;
CREATE TABLE judgements (   -- how the rewards of an episode came about, where the reward model says it
    model TEXT NOT NULL, episode TEXT NOT NULL, made_by TEXT NOT NULL, counts TEXT NOT NULL,   -- JSON
    checksum INTEGER NOT NULL,
    PRIMARY KEY (model, episode)
) STRICT, WITHOUT ROWID;
INSERT INTO "judgements" VALUES('progress-judge','0/0/0','','{"prefix tests": 1}',3411910490);
INSERT INTO "judgements" VALUES('progress-judge','0/1/0','','{"prefix tests": 1}',981965552);
CREATE TABLE measurements (
    name TEXT NOT NULL, place TEXT NOT NULL, value REAL, unit TEXT NOT NULL, n INTEGER NOT NULL,
    clusters INTEGER,           -- of worlds; null where not known
    low REAL, high REAL, reason TEXT NOT NULL, source TEXT NOT NULL,
    checksum INTEGER NOT NULL
) STRICT;
INSERT INTO "measurements" VALUES('success','{}',1.0,'share',2,1,NULL,NULL,'','success',2520993590);
INSERT INTO "measurements" VALUES('moves','{"control":"none","layer":1,"position":"message","variant":"ridge"}',NULL,'',0,NULL,NULL,NULL,'wanted worlds to train on and worlds to test on, got 0 and 1','moves',3243245041);
INSERT INTO "measurements" VALUES('moves','{"control":"shuffled","layer":1,"position":"message","variant":"ridge"}',NULL,'',0,NULL,NULL,NULL,'wanted worlds to train on and worlds to test on, got 0 and 1','moves',4154375971);
INSERT INTO "measurements" VALUES('moves','{"control":"untrained","layer":1,"position":"message","variant":"ridge"}',NULL,'',0,NULL,NULL,NULL,'wanted worlds to train on and worlds to test on, got 0 and 1','moves',3869996004);
INSERT INTO "measurements" VALUES('moves','{"control":"coordinates","layer":1,"position":"message","variant":"ridge"}',NULL,'',0,NULL,NULL,NULL,'wanted worlds to train on and worlds to test on, got 0 and 1','moves',1829931434);
INSERT INTO "measurements" VALUES('moves','{"control":"embeddings","layer":1,"position":"message","variant":"ridge"}',NULL,'',0,NULL,NULL,NULL,'wanted worlds to train on and worlds to test on, got 0 and 1','moves',1969256694);
CREATE TABLE probes (
    place INTEGER NOT NULL,     -- fits are listed in the order in which they were first fitted
    probe TEXT NOT NULL, fit TEXT PRIMARY KEY,
    made_by TEXT NOT NULL,      -- identifies probe, configuration and activations
    report TEXT NOT NULL,       -- JSON
    checksum INTEGER NOT NULL
) STRICT;
INSERT INTO "probes" VALUES(0,'moves','moves-ridge-layer1-message-none','6712ad8199e1c1c88f8f30d8ee6e7510280f8935355eb1c1ec9541e109097c37','{"absent":false,"classes":[],"coded":{"rows":[],"worlds":[]},"fit":{"control":"none","layer":1,"position":"message","probe":"moves","variant":"ridge"},"measurements":[],"model":"planted","n_test":0,"n_train":0,"reason":"wanted worlds to train on and worlds to test on, got 0 and 1","rows":[],"unread":"","worlds":[]}',747462745);
INSERT INTO "probes" VALUES(1,'moves','moves-ridge-layer1-message-shuffled','3afa9e93f2af4decd6ede7c190fecde53a0e14590e6ed5ac1b56792bfbd53846','{"absent":false,"classes":[],"coded":{"rows":[],"worlds":[]},"fit":{"control":"shuffled","layer":1,"position":"message","probe":"moves","variant":"ridge"},"measurements":[],"model":"planted","n_test":0,"n_train":0,"reason":"wanted worlds to train on and worlds to test on, got 0 and 1","rows":[],"unread":"","worlds":[]}',3609532858);
INSERT INTO "probes" VALUES(2,'moves','moves-ridge-layer1-message-untrained','1b8972d21c3decf6f97220b65636d8b0b3e048d280512ac1785676ebc20146be','{"absent":false,"classes":[],"coded":{"rows":[],"worlds":[]},"fit":{"control":"untrained","layer":1,"position":"message","probe":"moves","variant":"ridge"},"measurements":[],"model":"planted","n_test":0,"n_train":0,"reason":"wanted worlds to train on and worlds to test on, got 0 and 1","rows":[],"unread":"","worlds":[]}',995362354);
INSERT INTO "probes" VALUES(3,'moves','moves-ridge-layer1-message-coordinates','09ed6700e9e8d889a9a7c4325918441f3be928bae2300f592198e382465c4f4c','{"absent":false,"classes":[],"coded":{"rows":[],"worlds":[]},"fit":{"control":"coordinates","layer":1,"position":"message","probe":"moves","variant":"ridge"},"measurements":[],"model":"planted","n_test":0,"n_train":0,"reason":"wanted worlds to train on and worlds to test on, got 0 and 1","rows":[],"unread":"","worlds":[]}',4164726329);
INSERT INTO "probes" VALUES(4,'moves','moves-ridge-layer1-message-embeddings','02964db566c9db8a4877b2ed17bbb785669072cc1565051413b84eb0d39607ef','{"absent":false,"classes":[],"coded":{"rows":[],"worlds":[]},"fit":{"control":"embeddings","layer":1,"position":"message","probe":"moves","variant":"ridge"},"measurements":[],"model":"planted","n_test":0,"n_train":0,"reason":"wanted worlds to train on and worlds to test on, got 0 and 1","rows":[],"unread":"","worlds":[]}',1682583540);
CREATE TABLE replays (      -- answers of a server in the tokens of local weights
    weights TEXT NOT NULL,      -- identifies them
    episode TEXT NOT NULL, turn INTEGER NOT NULL,
    tokens BLOB NOT NULL,       -- of prompt and completion, little-endian int32
    positions TEXT NOT NULL,    -- JSON
    status TEXT NOT NULL, reason TEXT NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (weights, episode, turn)
) STRICT, WITHOUT ROWID;
CREATE TABLE requests (     -- what was sent to models, written before it is sent
    scope TEXT NOT NULL, request TEXT NOT NULL, model TEXT NOT NULL,    -- as in calls
    sent INTEGER NOT NULL,      -- how often; what got no answer is perhaps billed
    answered INTEGER NOT NULL,
    told INTEGER NOT NULL,      -- answers whose tokens were reported
    n_prompt INTEGER NOT NULL, n_completion INTEGER NOT NULL,           -- of those
    most_prompt INTEGER NOT NULL, most_completion INTEGER NOT NULL,     -- that one answer may take
    checksum INTEGER NOT NULL,
    PRIMARY KEY (scope, request)
) STRICT, WITHOUT ROWID;
INSERT INTO "requests" VALUES('0/0/0','6f075cf9b9dc6e3265713a7aeb5e0cbd10c52329c2236278906f38c34d27841a','planted',1,1,1,22,21,277,10000,373984722);
INSERT INTO "requests" VALUES('0/0/0','d6148f27b4e5dc64f6680b1f14447a5ec189bb541d25721fa5406e9739972ab1','planted',1,1,1,22,21,277,10000,2650791682);
INSERT INTO "requests" VALUES('0/1/0','9cfb7161fe8225338b43c3a74093d63aec66afcc04420ecf1e60d17a9e5dd62d','planted',1,1,1,22,21,277,10000,1732757446);
INSERT INTO "requests" VALUES('0/1/0','db9257fa9ffd618085b81e2dcd5920389372a11d990a3bb62446368621bc820e','planted',1,1,1,22,21,277,10000,304829800);
INSERT INTO "requests" VALUES('reward_model progress-judge','25f07a6019f9b7ae70621daa9132fc5e159cfc59d6a10aa7369b2956a587dccc','appraising',1,1,1,76,21,331,64,2805867612);
INSERT INTO "requests" VALUES('reward_model progress-judge','4d2a71aded8bd2af7777a985c5c81fa42521065f61ca85145eab875954a958c6','appraising',1,1,1,76,21,331,64,3258534694);
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
INSERT INTO "turns" VALUES('0/1/0',0,'#A_G#','["LEFT","RIGHT"]','{"agent":[1,1]}',0,'["RIGHT"]',-2.0,'ok','RIGHT','','9cfb7161fe8225338b43c3a74093d63aec66afcc04420ecf1e60d17a9e5dd62d',0.0,0,0,0.0,NULL,1649705261);
INSERT INTO "turns" VALUES('0/0/0',1,'#_AG#','["LEFT","RIGHT"]','{"agent":[1,2]}',1,'["RIGHT"]',-1.0,'ok','RIGHT','','d6148f27b4e5dc64f6680b1f14447a5ec189bb541d25721fa5406e9739972ab1',1.0,1,0,1.0,NULL,3417399404);
INSERT INTO "turns" VALUES('0/1/0',1,'#_AG#','["LEFT","RIGHT"]','{"agent":[1,2]}',1,'["RIGHT"]',-1.0,'ok','RIGHT','','db9257fa9ffd618085b81e2dcd5920389372a11d990a3bb62446368621bc820e',1.0,1,0,1.0,NULL,3049350307);
COMMIT;
PRAGMA user_version=11;
