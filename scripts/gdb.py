"""gdb commands that know objects by path. In gdb: source scripts/gdb.py

  ww                       the objects of the machine, with their classes
  ww sm[0].l1d             parameters, state and statistics of an object, zeros left out
  ww sm[0].l1d miss        only those whose names contain 'miss'
  ww-warps sm[0]           the warps of an SM: where each is, and which sets hold it
  ww-links [PATH]          links that hold messages, of one object or all

They need a stop inside the simulator: the machine is found from the variables of the frames there. Nothing is
called in the program, so they work on core files, too."""
import gdb

SETS = ('valid', 'blocked', 'waiting', 'fencing', 'head_memory', 'loading', 'want_fetch')


def sim_of(value):
    """The machine that a variable leads to, or None."""
    target = value.type.strip_typedefs()
    if target.code != gdb.TYPE_CODE_PTR:
        return None
    pointed = target.target().strip_typedefs().unqualified()
    if pointed.code != gdb.TYPE_CODE_STRUCT or not int(value):
        return None
    if pointed.name == 'Sim':
        return value
    fields = pointed.fields()
    if pointed.name == 'SimObject':
        return value['sim']
    if fields and fields[0].name == 'obj':
        return value['obj']['sim']
    return None


def variables(frame):
    try:
        block = frame.block()
    except RuntimeError:  # no symbols here
        return
    while block and not block.is_global and not block.is_static:
        for symbol in block:
            if symbol.is_variable or symbol.is_argument:
                yield symbol.value(frame)
        block = block.superblock


def machine():
    frame = gdb.newest_frame()
    while frame:
        for value in variables(frame):
            try:
                sim = sim_of(value)
                if sim and 0 < int(sim['object_count']) < 1 << 20:
                    return sim
            except gdb.error:  # optimised out, or not set yet
                pass
        frame = frame.older()
    raise gdb.GdbError('ww: no machine in these frames; stop in a function of the simulator, sm_tick() say')


def objects(sim):
    for i in range(int(sim['object_count'])):
        yield sim['objects'][i]


def object_at(path):
    found = [o for o in objects(machine()) if o['path'].string() == path]
    if not found:
        raise gdb.GdbError("ww: no object '%s'; 'ww' lists them" % path)
    return found[0]


def rows(an_object):
    field = an_object['class']['fields']
    while str(field['kind']) != 'FIELD_END':
        yield field
        field += 1


def scalar(an_object, field):
    """The number or text in a member; None of anything larger."""
    at = an_object.cast(gdb.lookup_type('char').pointer()) + int(field['offset'])
    kind = str(field['type'])
    if kind == 'TYPE_STRING':
        text = at.cast(gdb.lookup_type('char').pointer().pointer()).dereference()
        return text.string() if int(text) else None
    if kind == 'TYPE_DOUBLE':
        return float(at.cast(gdb.lookup_type('double').pointer()).dereference())
    size = int(field['bytes'])
    if size not in (1, 2, 4, 8):
        return None
    number = int(at.cast(gdb.lookup_type('uint%d_t' % (8 * size)).pointer()).dereference())
    if number == (1 << 64) - 1:
        return '~0'  # all warps, or NEVER
    return number if number < 1 << 32 else '0x%x' % number  # a set of warps, as a rule


class Ww(gdb.Command):
    """Objects of the machine by path: ww [PATH [PART-OF-A-NAME]]"""

    def __init__(self):
        super().__init__('ww', gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        if not words:
            for o in objects(machine()):
                print('%-32s %s' % (o['path'].string(), o['class']['name'].string()))
            return
        an_object, wanted = object_at(words[0]), words[1] if len(words) > 1 else ''
        print('%s: %s at (SimObject *)0x%x' % (words[0], an_object['class']['name'].string(), int(an_object)))
        for field in rows(an_object):
            kind, name = str(field['kind'])[len('FIELD_'):].lower(), field['name'].string()
            if kind not in ('param', 'derived', 'state', 'stat') or wanted not in name:
                continue
            value = scalar(an_object, field)
            if value or wanted and value is not None:
                print('  %-8s %-32s %-16s %s' % (kind, name, value, field['doc'].string()))


class WwWarps(gdb.Command):
    """The warps of an SM: ww-warps PATH"""

    def __init__(self):
        super().__init__('ww-warps', gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        an_object = object_at(argument.strip())
        if an_object['class']['name'].string() != 'SM':
            raise gdb.GdbError('ww-warps: expected an SM, got %s' % an_object['class']['name'].string())
        sm = an_object.cast(gdb.lookup_type('Sm').pointer())
        sets = [name for name in SETS if name in [f.name for f in gdb.lookup_type('Sm').fields()]]
        print('warp  cta              line  lanes       in flight  sets')
        for w in range(int(sm['warps'])):
            if not int(sm['live']) >> w & 1:
                continue
            warp, kernel = sm['warp'][w], sm['kernel']
            pc, line = int(warp['simt']['top']['pc']), 0
            if pc < int(kernel['inst_count']):
                line = int(kernel['insts'][pc]['line'])
            ctaid = sm['cta'][int(warp['cta_slot'])]['ctaid']
            print('%4d  %-15s %5d  0x%08x  %9d  %s' % (
                w, '(%d, %d, %d)' % tuple(int(ctaid[i]) for i in range(3)), line,
                int(warp['simt']['top']['lanes']), int(warp['in_flight']),
                ' '.join(name for name in sets if int(sm[name]) >> w & 1)))


class WwLinks(gdb.Command):
    """Links that hold messages: ww-links [PATH]"""

    def __init__(self):
        super().__init__('ww-links', gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        sim = machine()
        for i in range(int(sim['link_count'])):
            link = sim['links'][i]
            held, name = int(link['pushed']) - int(link['popped']), link['name'].string()
            if held and argument.strip() in name:
                print('%3d of %3d messages  %s' % (held, int(link['depth']), name))


Ww()
WwWarps()
WwLinks()
