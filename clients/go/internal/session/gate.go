package session

// gate admits as many invocations as there are slots, in the order of their arrival. A function that ignores its signal keeps its slot
// until it has returned. The lock of the process guards it.
type gate struct {
	slots   int
	busy    int
	waiting []*Invocation
}

// enter admits an invocation now, or queues it.
func (g *gate) enter(inv *Invocation) {
	g.waiting = append(g.waiting, inv)
	g.admit()
}

// leave frees the slot of an invocation, or takes it out of the queue.
func (g *gate) leave(inv *Invocation) {
	for i, one := range g.waiting {
		if one == inv {
			g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
			return
		}
	}
	g.busy--
	g.admit()
}

func (g *gate) resize(slots int) {
	g.slots = slots
	g.admit()
}

func (g *gate) admit() {
	for g.busy < g.slots && len(g.waiting) > 0 {
		g.busy++
		close(g.waiting[0].admitted)
		g.waiting = g.waiting[1:]
	}
}
