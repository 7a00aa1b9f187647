! The C face of the engine (tessera_engine.h) for Fortran: what the programs beside it use.
module tessera_engine
  use iso_c_binding
  implicit none
  type, bind(C) :: engine_options
    type(c_ptr) :: kinds
    integer(c_int) :: place, multiprocessors
    integer(c_int64_t) :: capacity, memory
  end type
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
    integer(c_int) function engine_setup_with(form, options, engine) bind(C, name="tessera_engine_setup_with")
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
    ! arguments: c_loc of the first of `count`, of `bytes` each.
    integer(c_int64_t) function engine_push(engine, kind, arguments, bytes, count, tags) bind(C, name="tessera_engine_push")
      import
      type(c_ptr), value :: engine
      integer(c_int), value :: kind
      type(c_ptr), value :: arguments
      integer(c_int64_t), value :: bytes, count
      integer(c_int64_t), intent(in) :: tags(*)
    end function
    integer(c_int64_t) function engine_poll(engine, results, most) bind(C, name="tessera_engine_poll")
      import
      type(c_ptr), value :: engine
      type(task_result), intent(out) :: results(*)
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
end module
