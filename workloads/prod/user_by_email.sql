\set user random(1, :users)
\set email format('user%d@example.com', :user)
SELECT id, name, plan, country FROM users WHERE email = :email;
