\set user random(1, :users)
-- the literal below spans two lines
SELECT name, 'ab
cd' AS both
  FROM users
WHERE id = :user;
