(* Names as gm2 makes them: nested procedures, local modules, procedure types. *)
MODULE letters ;

TYPE
   Func = PROCEDURE (CARDINAL) : CARDINAL ;
VAR
   total: CARDINAL ;

PROCEDURE Spend (n: CARDINAL) : CARDINAL ;
VAR
   i, s: CARDINAL ;
BEGIN
   s := 0 ;
   FOR i := 1 TO n DO
      s := (s + i) MOD 65521
   END ;
   RETURN s
END Spend ;

PROCEDURE Outer (n: CARDINAL) : CARDINAL ;
VAR
   sum: CARDINAL ;
   PROCEDURE Inner (k: CARDINAL) ;
   BEGIN
      sum := (sum + Spend (k)) MOD 65521
   END Inner ;
VAR
   i: CARDINAL ;
BEGIN
   sum := 0 ;
   FOR i := 1 TO n DO
      Inner (i * 100)
   END ;
   RETURN sum
END Outer ;

PROCEDURE Depth (n: CARDINAL) : CARDINAL ;
BEGIN
   IF n < 2 THEN
      RETURN n
   ELSE
      RETURN Depth (n-1) + Depth (n-2)
   END
END Depth ;

PROCEDURE Twice (f: Func; n: CARDINAL) : CARDINAL ;
BEGIN
   RETURN f (n) + f (n)
END Twice ;

MODULE Local ;
IMPORT total ;
EXPORT Bump ;
PROCEDURE Bump ;
BEGIN
   total := total + 1
END Bump ;
BEGIN
   total := 1
END Local ;

BEGIN
   Bump ;
   total := total + Twice (Outer, 500) + Depth (25) + Twice (Spend, 5000000)
END letters.
