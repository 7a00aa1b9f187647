! Tasks of a kind of one's own from Fortran: rows LIBRARY, as rows.c.
program rows
  use iso_c_binding
  implicit none
  type, bind(C) :: engine_options
    type(c_ptr) :: kinds
    integer(c_int) :: place, multiprocessors
    integer(c_int64_t) :: capacity, memory
  end type
  type, bind(C) :: react_row ! as ReactRow::Arguments of react_row.hpp
    integer(c_intptr_t) :: old, next
    real(c_double) :: rate_times_dt
    integer(c_int64_t) :: cells
  end type
  type, bind(C) :: task_result
    integer(c_int64_t) :: tag
    integer(c_int16_t) :: status, kind
    integer(c_int32_t) :: code
    integer(c_int64_t) :: words(6)
  end type
  interface
    integer(c_int) function engine_setup(form, options, engine) bind(C, name="tessera_engine_setup_with")
      import
      character(kind=c_char), intent(in) :: form(*)
      type(engine_options), intent(in) :: options
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
      type(react_row), intent(in) :: arguments
      integer(c_int64_t), value :: bytes, count
      integer(c_int64_t), intent(in) :: tags
    end function
    integer(c_int64_t) function engine_poll(engine, results, most) bind(C, name="tessera_engine_poll")
      import
      type(c_ptr), value :: engine
      type(task_result), intent(out) :: results
      integer(c_int64_t), value :: most
    end function
    integer(c_intptr_t) function engine_allocate(engine, bytes) bind(C, name="tessera_engine_allocate")
      import
      type(c_ptr), value :: engine
      integer(c_int64_t), value :: bytes
    end function
    integer(c_int) function engine_copy_in(engine, to, from, bytes) bind(C, name="tessera_engine_copy_in")
      import
      type(c_ptr), value :: engine
      integer(c_intptr_t), value :: to
      real(c_double), intent(in) :: from(*)
      integer(c_int64_t), value :: bytes
    end function
    integer(c_int) function engine_copy_out(engine, to, from, bytes) bind(C, name="tessera_engine_copy_out")
      import
      type(c_ptr), value :: engine
      real(c_double), intent(out) :: to(*)
      integer(c_intptr_t), value :: from
      integer(c_int64_t), value :: bytes
    end function
    integer(c_int) function engine_cleanup(engine) bind(C, name="tessera_engine_cleanup")
      import
      type(c_ptr), value :: engine
    end function
  end interface
  integer(c_int64_t), parameter :: rows_of_field = 100, cells = 8, row_bytes = 8 * cells
  character(len=4096, kind=c_char), target :: library
  type(c_ptr) :: engine
  type(task_result) :: result
  integer(c_intptr_t) :: old
  integer(c_int64_t) :: row, ended, substeps
  integer(c_int) :: kind
  real(c_double) :: amounts(cells)

  call get_command_argument(1, library)
  library = trim(library) // c_null_char
  if (engine_setup("threads" // c_null_char, engine_options(c_loc(library), 2, 0, 128, 0), engine) /= 0) stop 1
  kind = engine_kind(engine, "react_row" // c_null_char)
  old = engine_allocate(engine, 2 * rows_of_field * row_bytes)
  if (kind < 0 .or. old == 0) stop 2
  do row = 0, rows_of_field - 1
    amounts = real(row + 1, c_double)
    if (engine_copy_in(engine, old + row * row_bytes, amounts, row_bytes) /= 0) stop 3
    if (engine_push(engine, kind, react_row(old + row * row_bytes, old + (rows_of_field + row) * row_bytes, 0.25d0, cells), &
                    32_c_int64_t, 1_c_int64_t, row) /= 1) stop 4
  end do
  substeps = 0
  ended = 0
  do while (ended < rows_of_field)
    if (engine_poll(engine, result, 1_c_int64_t) == 0) cycle
    substeps = substeps + result%words(1)
    ended = ended + 1
  end do
  if (engine_copy_out(engine, amounts, old + (2 * rows_of_field - 1) * row_bytes, row_bytes) /= 0) stop 5
  if (engine_cleanup(engine) /= 0) stop 6
  print '(i0,f13.9)', substeps, amounts(cells)
end program
