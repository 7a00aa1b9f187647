! A thousand tasks from Fortran.
program adders
  use tessera_engine
  implicit none
  integer(c_int64_t), parameter :: tasks = 1000
  type(c_ptr) :: engine
  type(task_result) :: results(16)
  integer(c_int64_t), target :: arguments(2, tasks)
  integer(c_int64_t) :: tags(tasks), pushed, polled, got, total, n
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
      pushed = pushed + engine_push(engine, adder, c_loc(arguments(1, pushed + 1)), 16_c_int64_t, tasks - pushed, &
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
