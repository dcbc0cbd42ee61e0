CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    age INTEGER NOT NULL,
    created_at INTEGER NOT NULL
);

CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    worker_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    payload TEXT NOT NULL
);
