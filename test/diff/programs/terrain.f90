! Names as gfortran makes them: of modules, submodules, contained procedures, types' procedures,
! operators, entries, and a C name with bind.
module terrain
	use, intrinsic :: iso_c_binding
	implicit none
	type :: field
		real :: heights(64, 64) = 1.0
	contains
		procedure :: smooth => field_smooth
		final :: field_gone
	end type
	interface operator(.over.)
		procedure higher
	end interface
	interface
		module subroutine erode(f, times)
			type(field), intent(inout) :: f
			integer, intent(in) :: times
		end subroutine
		module real function total(f)
			type(field), intent(in) :: f
		end function
	end interface
contains
	subroutine field_smooth(this)
		class(field), intent(inout) :: this
		integer :: i, j
		do j = 2, 63
			do i = 2, 63
				this%heights(i, j) = mean(i, j)
			end do
		end do
	contains
		real function mean(i, j)
			integer, intent(in) :: i, j
			mean = (this%heights(i - 1, j) + this%heights(i + 1, j) + this%heights(i, j - 1) + this%heights(i, j + 1)) / 4
		end function
	end subroutine
	subroutine field_gone(this)
		type(field), intent(inout) :: this
		this%heights = 0
	end subroutine
	logical function higher(a, b)
		type(field), intent(in) :: a, b
		higher = total(a) > total(b)
	end function
	integer(c_int) function rain_of(day) bind(c, name='RainOf$Day')
		integer(c_int), value :: day
		rain_of = mod(day * 7, 5)
	end function
end module

submodule (terrain) weather
	implicit none
contains
	module subroutine erode(f, times)
		type(field), intent(inout) :: f
		integer, intent(in) :: times
		integer :: i
		do i = 1, times
			call f%smooth()
			f%heights = f%heights - 0.001 * rain_of(i)
		end do
	end subroutine
	module procedure total
		total = sum(f%heights)
	end procedure
end submodule

recursive integer function ways(n) result(r)
	implicit none
	integer, intent(in) :: n
	integer :: other
	integer :: shortcut
	r = n
	if (n > 1) r = ways(n - 1) + ways(n - 2)
	return
	entry shortcut(n) result(other)
	other = n / 2
end function

subroutine apply(f, times)
	implicit none
	external :: f
	integer, intent(in) :: times
	integer :: i
	do i = 1, times
		call f(i)
	end do
end subroutine

program walk
	use terrain
	implicit none
	integer, external :: ways, shortcut
	type(field) :: here, there
	integer :: steps
	steps = 0
	here%heights(32, 32) = 100
	call erode(here, 3000)
	call apply(step, 200000)
	if (here .over. there) steps = steps + ways(22) + shortcut(9)
	if (steps == 0) print *, steps
contains
	subroutine step(i)
		integer, intent(in) :: i
		steps = steps + ieor(i, steps)
	end subroutine
end program
