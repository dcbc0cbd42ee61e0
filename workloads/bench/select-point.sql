\set id (:op * :connections + :connection) % :rows + 1
SELECT id, name, email, age FROM users WHERE id = :id;
