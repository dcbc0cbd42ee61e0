\rows users :rows CHUNK 25000
\set name format('User Number %d', :row)
\set email format('user%d@example.com', :row)
\set age random(18, 77)
\set created 1735689600 + random(0, 31535999)
INSERT INTO users (id, name, email, age, created_at) VALUES (:row, :name, :email, :age, :created);
\end
