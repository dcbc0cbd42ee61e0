\set id (:op * :connections + :connection) % :rows + 1
\set age random(18, 77)
UPDATE users SET age = :age WHERE id = :id;
