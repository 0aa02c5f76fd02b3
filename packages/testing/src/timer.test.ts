import { SystemTimer, systemClock } from '@odradek/runtime';
import { SimulatedWorld } from './simulated-world.ts';
import { timerContract } from './timer.contract.ts';

timerContract('system', () => ({ clock: systemClock, timer: new SystemTimer(systemClock), run: (promise) => promise }));

timerContract('simulated', () => {
  const world = new SimulatedWorld({ seed: 1 });
  return { clock: world.clock, timer: world.timer, run: (promise) => world.run(promise) };
});
