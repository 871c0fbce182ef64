--  Names as GNAT makes them: nested units, overloading, generics, operators, tasks, elaboration.
with Interfaces.C;
procedure Letters is
   generic
      type Item is private;
      with function "<" (A, B : Item) return Boolean;
   package Queues is
      type Row is array (Positive range <>) of Item;
      procedure Sort (R : in out Row);
   end Queues;
   package body Queues is
      procedure Sort (R : in out Row) is
         procedure Swap (I, J : Positive) is
            Old : constant Item := R (I);
         begin
            R (I) := R (J);
            R (J) := Old;
         end Swap;
      begin
         for I in R'Range loop
            for J in I + 1 .. R'Last loop
               if R (J) < R (I) then
                  Swap (I, J);
               end if;
            end loop;
         end loop;
      end Sort;
   end Queues;

   type Word is mod 2 ** 32;
   type Point is record
      X, Y : Word := 0;
   end record;
   function "<" (A, B : Point) return Boolean is (A.X < B.X);
   function "+" (A, B : Point) return Point is ((A.X + B.X, A.Y + B.Y));
   function Next (W : Word) return Word is (W * 1664525 + 1013904223);
   function Next (P : Point) return Point is (P + (Next (P.X), Next (P.Y)));
   package Words is new Queues (Word, "<");
   package Points is new Queues (Point, "<");

   package Shapes is
      type Shape is abstract tagged record
         Side : Word := 3;
      end record;
      function Area (S : Shape) return Word is abstract;
      type Square is new Shape with null record;
      overriding function Area (S : Square) return Word is (S.Side * S.Side);
   end Shapes;

   task type Worker is
      entry Start (Seed : Word);
   end Worker;
   task body Worker is
      W : Word;
      R : Words.Row (1 .. 1000);
   begin
      accept Start (Seed : Word) do
         W := Seed;
      end Start;
      for I in R'Range loop
         W := Next (W);
         R (I) := W;
      end loop;
      Words.Sort (R);
   end Worker;

   protected Counter is
      procedure Add (N : Word);
      function Value return Word;
   private
      Sum : Word := 0;
   end Counter;
   protected body Counter is
      procedure Add (N : Word) is
      begin
         Sum := Sum + N;
      end Add;
      function Value return Word is (Sum);
   end Counter;

   P : Points.Row (1 .. 4000);
   S : Shapes.Square;
   A : access Shapes.Shape'Class := new Shapes.Square;
   At_First : Point := (1, 2);
begin
   for I in P'Range loop
      At_First := Next (At_First);
      P (I) := At_First;
      Counter.Add (S.Area + A.Area);
   end loop;
   Points.Sort (P);
   declare
      W : array (1 .. 2) of Worker;
   begin
      for I in W'Range loop
         W (I).Start (Word (I));
      end loop;
   end;
   if Counter.Value = 0 then
      raise Program_Error;
   end if;
end Letters;
