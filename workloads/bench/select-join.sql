\set id (:op * :connections + :connection) % :rows + 1
SELECT users.name, orders.amount, orders.status
FROM users JOIN orders ON orders.user_id = users.id WHERE users.id = :id;
