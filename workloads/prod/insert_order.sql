\set user random(1, :users)
\set status choice('pending', 'paid', 'refunded', 'failed', 'disputed')
\set amount random(100, 50099)
\set ordered 1735689600 + random(0, 31535999)
\set metadata '{"source":"web","campaign":"c-100","ip":"192.0.2.10","agent":"Mozilla/5.0","reference":"ORD-new","retries":0}'
INSERT INTO orders (user_id, status, amount_cents, currency, created_at, metadata)
VALUES (:user, :status, :amount, 'USD', :ordered, :metadata);
