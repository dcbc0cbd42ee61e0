-- Ids in turn, each connection from its own offset.
\set id (:rows * :connection / :connections + :op) % :rows + 1
SELECT id, name, email, age FROM users WHERE id = :id;
