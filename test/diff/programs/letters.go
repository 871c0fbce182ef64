// Names as gccgo makes them: methods, closures, interfaces, init functions, other letters.
package main

type shape interface{ area() uint64 }
type square struct{ side uint64 }
type pair struct {
	square
	second *square
}

var total uint64

func init() { total = 1 }
func init() { total += 2 }

func (s square) area() uint64      { return s.side * s.side }
func (s *square) grow(by uint64)   { s.side += by }
func (p pair) both() (a, b uint64) { return p.area(), p.second.area() }

func spend(n uint64) (s uint64) {
	for i := uint64(0); i < n; i++ {
		s += i ^ s
	}
	return
}

func größe(n uint64) uint64 { return spend(n) }

func depth(n int) int {
	if n < 2 {
		return n
	}
	return depth(n-1) + depth(n-2)
}

func each(n int, f func(int)) {
	for i := 0; i < n; i++ {
		f(i)
	}
}

func main() {
	p := pair{square{3}, &square{4}}
	each(300, func(i int) {
		p.grow(uint64(i))
		func() { total += spend(100000) }()
	})
	var s shape = p
	a, b := p.both()
	total += s.area() + a + b + größe(30000000) + uint64(depth(27))
	if total == 42 {
		println(total)
	}
}
