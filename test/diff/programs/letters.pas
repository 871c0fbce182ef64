{ Names as Free Pascal makes them: units, methods, nested procedures, overloads, operators, properties. }
program letters;
{$mode objfpc}
type
  TShape = class
  private
    FSide: LongWord;
    procedure SetSide(value: LongWord);
  public
    constructor Create(side: LongWord);
    destructor Destroy; override;
    function Area: LongWord; virtual;
    property Side: LongWord read FSide write SetSide;
  end;
  TSquare = class(TShape)
    function Area: LongWord; override;
  end;
  TPair = record x, y: LongWord; end;
var
  total: LongWord = 0;

operator + (a, b: TPair) r: TPair;
begin
  r.x := a.x + b.x; r.y := a.y + b.y;
end;
procedure Spend(n: LongWord);
var i: LongWord;
begin
  for i := 1 to n do total := total xor (i * 3);
end;
procedure Spend(s: String);
begin
  Spend(LongWord(Length(s) * 1000000));
end;
constructor TShape.Create(side: LongWord); begin FSide := side; end;
destructor TShape.Destroy; begin Spend(10); inherited; end;
procedure TShape.SetSide(value: LongWord); begin FSide := value; Spend(value); end;
function TShape.Area: LongWord; begin Spend(LongWord(1000000)); Area := FSide; end;
function TSquare.Area: LongWord; begin Area := inherited Area * FSide; end;
function Depth(n: Integer): Integer;
begin
  if n < 2 then Depth := n else Depth := Depth(n - 1) + Depth(n - 2);
end;
procedure Outer(n: LongWord);
  procedure Inner(k: LongWord);
  begin
    Spend(k + n);
  end;
var i: LongWord;
begin
  for i := 1 to n do Inner(i * 10);
end;
var
  s: TShape;
  p, q: TPair;
begin
  s := TSquare.Create(3);
  s.Side := 30000;
  p.x := s.Area; p.y := 1; q := p + p;
  Outer(2000);
  Spend('abcdefghij');
  total := total + LongWord(Depth(25)) + q.x;
  s.Free;
end.
