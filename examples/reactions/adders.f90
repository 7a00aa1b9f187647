! A thousand tasks from Fortran.
program adders
  use iso_c_binding
  implicit none
  type, bind(C) :: task_result
    integer(c_int64_t) :: tag
    integer(c_int16_t) :: status, kind
    integer(c_int32_t) :: code
    integer(c_int64_t) :: words(6)
  end type
  interface
    integer(c_int) function engine_setup(form, place, capacity, memory, engine) bind(C, name="tessera_engine_setup")
      import
      character(kind=c_char), intent(in) :: form(*)
      integer(c_int), value :: place
      integer(c_int64_t), value :: capacity, memory
      type(c_ptr), intent(out) :: engine
    end function
    integer(c_int) function engine_kind(engine, name) bind(C, name="tessera_engine_kind")
      import
      type(c_ptr), value :: engine
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int64_t) function engine_push(engine, kind, arguments, bytes, count, tags) bind(C, name="tessera_engine_push")
      import
      type(c_ptr), value :: engine
      integer(c_int), value :: kind
      integer(c_int64_t), intent(in) :: arguments(*)
      integer(c_int64_t), value :: bytes, count
      integer(c_int64_t), intent(in) :: tags(*)
    end function
    integer(c_int64_t) function engine_poll(engine, results, most) bind(C, name="tessera_engine_poll")
      import
      type(c_ptr), value :: engine
      type(task_result), intent(out) :: results(*)
      integer(c_int64_t), value :: most
    end function
    integer(c_int) function engine_cleanup(engine) bind(C, name="tessera_engine_cleanup")
      import
      type(c_ptr), value :: engine
    end function
  end interface
  integer(c_int64_t), parameter :: tasks = 1000
  type(c_ptr) :: engine
  type(task_result) :: results(16)
  integer(c_int64_t) :: arguments(2, tasks), tags(tasks), pushed, polled, got, total, n
  integer(c_int) :: adder

  if (engine_setup("threads" // c_null_char, 2_c_int, 0_c_int64_t, 0_c_int64_t, engine) /= 0) stop 1
  adder = engine_kind(engine, "adder" // c_null_char)
  do n = 1, tasks
    arguments(:, n) = [n - 1, 1_c_int64_t]
    tags(n) = n
  end do
  pushed = 0
  polled = 0
  total = 0
  do while (polled < tasks)
    if (pushed < tasks) then
      pushed = pushed + engine_push(engine, adder, arguments(:, pushed + 1:), 16_c_int64_t, tasks - pushed, &
                                    tags(pushed + 1:))
    end if
    got = engine_poll(engine, results, 16_c_int64_t)
    do n = 1, got
      total = total + results(n)%words(1)
    end do
    polled = polled + got
  end do
  if (engine_cleanup(engine) /= 0) stop 1
  print '(i0)', total
end program
