-- One execution is 1000 operations; suite.json says so too.
\begin write
\repeat 1000 AS i
\set n (:op * :connections + :connection) * 1000 + :i
\set name format('User Number %d', :n)
\set email format('user%d@example.com', :n)
\set age random(18, 77)
\set created 1735689600 + random(0, 31535999)
INSERT INTO users (name, email, age, created_at) VALUES (:name, :email, :age, :created);
\end
\commit
