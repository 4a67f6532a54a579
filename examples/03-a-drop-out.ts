/**
 * Sealed mode, four users, one of whom disappears after it got its key: the others' sum opens all the same, nobody has to
 * come back, and the one who left learns from the authority that its update may go into another buffer.
 *
 * Real CP-ABE; server, authority and users are the real cores, in memory.
 *
 * Run it with `node --import ./scripts/typescript.mjs --conditions=@basa/source examples/03-a-drop-out.ts`.
 */

import { judgeOutcome, millis, type UserSession } from '@basa/protocol';
import { Federation, LEASE_MS } from '@basa/simulator';
import { abeSealings } from '@basa/virtual-time/real-sealings';
import { nodeEnvironment } from '@basa/virtual-time/simulation';

const world = new Federation(nodeEnvironment, { bufferSize: 4, minimum: 3, dimension: 4, sealings: abeSealings() });
const [ann, bob, cem, dee] = [world.device(), world.device(), world.device(), world.device()];

ann.contribute('upload', Float32Array.of(1, 0, 0, 0));
bob.contribute('key', Float32Array.of(0, 1, 0, 0)); // has slot and key, then loses its network
cem.contribute('upload', Float32Array.of(0, 0, 1, 0));
dee.contribute('upload', Float32Array.of(0, 0, 1, 1));

world.now = millis(world.now + LEASE_MS + 1); // bob's lease runs out: its slot is dropped, never given to another
world.server.tick();
const { ctx } = ann;
console.log(
  `slots: ${world.server
    .buffer(ctx)
    .slots.map(({ status }) => status)
    .join(', ')}`,
);

// The authority opens the self seeds of the accepted, and releases the edge key of slot 1; never both of one slot.
const verdict = world.server.finish(ctx);
if (verdict.kind !== 'good') throw new Error(verdict.why);
console.log(
  `sum:   ${[...verdict.sum].join(' ')}  (ann + cem + dee; bob's masks were mended by the backups of cem and dee)`,
);

const { joinTag } = (bob.session as UserSession).member;
const ports = { suite: bob.suite, council: world.policy };
const freed = judgeOutcome(ports, { ctx, joinTag }, [{ authority: 0, outcome: world.authority.outcome(ctx) }]);
console.log(`bob:   its update is ${freed.kind}: it may go into the next buffer`);
