\set user random(1, :users)
SELECT id, email, name, plan, country, created_at FROM users WHERE id = :user;
