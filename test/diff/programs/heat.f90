! Module procedures, internal procedures, recursion, array operations.
module grid
   implicit none
   integer, parameter :: n = 120
contains
   subroutine step(a, b)
      real(8), intent(in) :: a(n, n)
      real(8), intent(out) :: b(n, n)
      integer :: i, j
      b = a
      do j = 2, n - 1
         do i = 2, n - 1
            b(i, j) = mean(a(i - 1, j), a(i + 1, j), a(i, j - 1), a(i, j + 1))
         end do
      end do
   end subroutine step

   real(8) function mean(p, q, r, s)
      real(8), intent(in) :: p, q, r, s
      mean = (p + q + r + s) / 4
   end function mean

   recursive integer function steps(k) result(total)
      integer, intent(in) :: k
      if (k <= 1) then
         total = 1
      else
         total = steps(k - 1) + steps(k - 2)
      end if
   end function steps
end module grid

program heat
   use grid
   implicit none
   real(8) :: a(n, n), b(n, n)
   integer :: k
   a = 0
   a(:, 1) = 100
   do k = 1, 6000
      call step(a, b)
      call step(b, a)
   end do
   call report(steps(18))
contains
   subroutine report(count)
      integer, intent(in) :: count
      print '(i0, 1x, l1)', count, sum(a) > 0
   end subroutine report
end program heat
