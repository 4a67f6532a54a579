/** A device comes with an update: to a seat in a buffer of its version, if that version still takes updates and there is room. */
import { type Suite, toHex } from '@basa/masking';
import {
  type DrawnBuffer,
  type Refused,
  refused,
  type SeatRequest,
  type TaskPolicy,
  type UserId,
  userIdOf,
} from '@basa/protocol';
import { fail } from '@basa/service';
import type { ModelKeeper } from '../closing/model-keeper.ts';
import type { Places } from '../seats/places.ts';
import type { SeatGiver } from '../seats/seats.ts';
import type { SuspicionWatch } from '../seats/suspicion-watch.ts';
import type { Tuning } from '../seats/tuning.ts';

export interface SeatRoom {
  readonly policy: TaskPolicy;
  readonly models: ModelKeeper;
  readonly places: Places;
  readonly seats: SeatGiver;
  readonly suspicion: SuspicionWatch;
  readonly tuning: Tuning;
  readonly suite: Suite;
  readonly clock: () => number;
}

const MUST_WAIT = 'this device waits for a buffer without others whose sums were spoilt';

/** `unused`: what the device lately left unused. */
export async function takeSeat(room: SeatRoom, asked: SeatRequest, unused: number): Promise<DrawnBuffer | Refused> {
  const { policy, models, places, seats, suspicion, tuning, clock } = room;
  seats.checkRunning();
  tuning.arrived(clock());
  const { deviceKey } = asked.certificate;
  const user = userIdOf(room.suite, deviceKey);
  const isMixed = policy.versions === 'unsafeMixed';
  const over = isMixed ? undefined : await versionOver(room, user, asked);
  if (over !== undefined) {
    await places.discard(user, 'used');
    return over;
  }
  const request = isMixed ? { ...asked, version: models.newest?.version ?? 0 } : asked;
  const later = await places.comesToSeat(user, request.version, unused);
  if (later !== undefined) fail('no-place', { detail: later.why, retryAfterMs: later.retryAfterMs });
  const seat = await seats.take(request);
  if (!('kind' in seat)) {
    tuning.seated(toHex(deviceKey), clock());
    return seat;
  }
  // Nobody waits for a suspect that waits: it holds no place.
  await places.discard(user, 'refused');
  if (seat.kind === 'refused') return seat;
  return fail('no-place', { detail: MUST_WAIT, retryAfterMs: await suspicion.askAgainMs() });
}

/** A version that is not ours, too old, or too few devices are left for takes no more updates. */
async function versionOver(
  { policy, models, places }: SeatRoom,
  user: UserId,
  { version, modelHash }: SeatRequest,
): Promise<Refused | undefined> {
  if (version > (models.newest?.version ?? -1)) await models.refresh(); // another node may have made it
  const newest = models.newest?.version ?? 0;
  const isOurs = version <= newest && (await models.has({ version, modelHash }));
  if (!isOurs || version < newest - policy.maxStaleness)
    return refused('version-over', { detail: `version ${version}; version ${newest} is the newest` });
  return places.versionOver(user, version);
}
