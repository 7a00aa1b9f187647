! Tasks of a kind of one's own from Fortran: rows LIBRARY, as rows.c.
program rows
  use tessera_engine
  implicit none
  type, bind(C) :: react_row ! as ReactRow::Arguments of react_row.hpp
    integer(c_intptr_t) :: old, next
    real(c_double) :: rate_times_dt
    integer(c_int64_t) :: cells
  end type
  integer(c_int64_t), parameter :: rows_of_field = 100, cells = 8, row_bytes = 8 * cells
  character(len=4096, kind=c_char), target :: library
  type(c_ptr) :: engine
  type(react_row), target :: arguments
  type(task_result) :: results(1)
  integer(c_intptr_t) :: old
  integer(c_int64_t) :: row, ended, substeps
  integer(c_int) :: kind
  real(c_double) :: amounts(cells)

  call get_command_argument(1, library)
  library = trim(library) // c_null_char
  if (engine_setup_with("threads" // c_null_char, engine_options(c_loc(library), 2, 0, 128, 0), engine) /= 0) stop 1
  kind = engine_kind(engine, "react_row" // c_null_char)
  old = engine_allocate(engine, 2 * rows_of_field * row_bytes)
  if (kind < 0 .or. old == 0) stop 2
  do row = 0, rows_of_field - 1
    amounts = real(row + 1, c_double)
    if (engine_copy_in(engine, old + row * row_bytes, amounts, row_bytes) /= 0) stop 3
    arguments = react_row(old + row * row_bytes, old + (rows_of_field + row) * row_bytes, 0.25d0, cells)
    if (engine_push(engine, kind, c_loc(arguments), 32_c_int64_t, 1_c_int64_t, [row]) /= 1) stop 4
  end do
  substeps = 0
  ended = 0
  do while (ended < rows_of_field)
    if (engine_poll(engine, results, 1_c_int64_t) == 0) cycle
    substeps = substeps + results(1)%words(1)
    ended = ended + 1
  end do
  if (engine_copy_out(engine, amounts, old + (2 * rows_of_field - 1) * row_bytes, row_bytes) /= 0) stop 5
  if (engine_cleanup(engine) /= 0) stop 6
  print '(i0,f13.9)', substeps, amounts(cells)
end program
