\set user random(1, :users)
SELECT id, status, amount_cents, created_at
FROM orders WHERE user_id = :user ORDER BY created_at DESC LIMIT 20;
