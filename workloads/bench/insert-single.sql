-- The table is empty at the start: this scenario loads no rows.
\set n :op * :connections + :connection + 1
\set name format('User Number %d', :n)
\set email format('user%d@example.com', :n)
\set age random(18, 77)
\set created 1735689600 + random(0, 31535999)
INSERT INTO users (name, email, age, created_at) VALUES (:name, :email, :age, :created);
