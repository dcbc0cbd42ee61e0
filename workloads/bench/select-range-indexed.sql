\set low 18 + (:op * :connections + :connection) % 50
\set high :low + 2
SELECT id, name, age FROM users WHERE age BETWEEN :low AND :high LIMIT 50;
