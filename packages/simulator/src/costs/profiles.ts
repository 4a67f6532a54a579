/** Profiles: a protocol run in full at a tiny dimension gives its costs besides vectors and sealing, and the number of those operations. */
import { type AggregationProtocol, type AggregationTools, secAgg, secAggPlus } from '@basa/baselines';
import type { Environment } from '../federation/world.ts';
import { basaOneShot } from '../protocols/basa-one-shot.ts';
import { unsafeBasaPaper } from '../protocols/basa-paper.ts';
import { nodeEnvironment } from '../simulation/environment.ts';
import type { SealingSizes } from '../simulation/padded-sealings.ts';
import type { Profile, Share } from './costs.ts';
import { THREE_OF_FOUR } from './councils.ts';
import { countedSealings } from './counted-sealings.ts';
import { type Account, accountIn, Meter } from './meter.ts';
import { summary } from './sampling.ts';

/** Elements of the vectors of a profile. */
const TINY = 64;

export const PROFILED_NAMES = ['SecAgg', 'SecAgg+', 'BASA paper', 'BASA one-shot', 'BASA one-shot (3 of 4)'] as const;
export type ProfiledName = (typeof PROFILED_NAMES)[number];

/** SecAgg+ for 5 % corrupt users, and at least as many drop-outs. */
const CORRUPT = 0.05;

export interface ProfileRequest {
  readonly name: ProfiledName;
  readonly users: number;
  /** The number of users that leave before they upload: the last moment, and the most expensive one for the server. */
  readonly leaving: number;
}

export function profileKey({ name, users, leaving }: ProfileRequest): string {
  return `${name} ${users} -${leaving}`;
}

/** Undefined if the protocol refuses this many drop-outs. */
export function profileOf(
  request: ProfileRequest,
  tools: AggregationTools,
  sealing: SealingSizes,
  runs: number,
): Profile | undefined {
  const profiles: Profile[] = [];
  // The first of several runs warms up the compiler.
  for (let run = 0; run < (runs === 1 ? 1 : runs + 1); run++) {
    const profile = oneProfile(request, tools, sealing);
    if (profile === undefined) return undefined;
    profiles.push(profile);
  }
  return medianProfile(runs === 1 ? profiles : profiles.slice(1));
}

function oneProfile(
  { name, users, leaving }: ProfileRequest,
  tools: AggregationTools,
  sealing: SealingSizes,
): Profile | undefined {
  const meter = new Meter();
  const masks = { ...tools.masks, suite: meter.listen(tools.masks.suite) };
  const environment: Environment = { ...nodeEnvironment, tools: masks };
  const sealings = countedSealings(meter, sealing);
  const protocols: Readonly<Record<ProfiledName, () => AggregationProtocol>> = {
    SecAgg: () => secAgg({ ...tools, masks }),
    'SecAgg+': () => secAggPlus({ ...tools, masks }, { corrupt: CORRUPT, dropped: Math.max(CORRUPT, leaving / users) }),
    'BASA paper': () => unsafeBasaPaper(environment, { sealings }),
    // Guard words are a few words of a mask: they are timed, and not counted as masks.
    'BASA one-shot': () => basaOneShot(environment, { guardTools: tools.masks }),
    'BASA one-shot (3 of 4)': () => basaOneShot(environment, { guardTools: tools.masks, ...THREE_OF_FOUR }),
  };
  const protocol = protocols[name]();
  const upload = protocol.phases.find((phase) => phase.name === 'upload' || phase.name === 'masked-input')?.name;
  const inputs = Array.from({ length: users }, (_, user) =>
    Uint32Array.from({ length: TINY }, (__, k) => 1 + ((user * 31 + k) % 1000)),
  );
  const leavesBefore = (user: number): string | undefined => (user >= 1 && user <= leaving ? upload : undefined);
  const found = protocol.aggregate({ inputs, leavesBefore }, meter);
  if (found.kind === 'refused') return undefined;
  const expected = inputs[0]?.map((_, k) => found.included.reduce((sum, user) => sum + (inputs[user]?.[k] ?? 0), 0));
  if (expected?.join() !== found.sum.join()) throw new Error(`${name} gave a wrong sum`);
  return {
    phases: protocol.phases.map((phase) => {
      const accounts = found.included.map((user) => accountIn(meter.users.get(user) ?? new Map(), phase.name));
      return {
        name: phase.name,
        users: accounts.map(shareOf),
        server: shareOf(accountIn(meter.server, phase.name)),
        authority: shareOf(accountIn(meter.authority, phase.name)),
      };
    }),
  };
}

function shareOf({ ms, counts }: Account): Share {
  return { ms, counts: { ...counts } };
}

/** Counts and bytes are the same in every run; times are their medians. */
function medianProfile(profiles: readonly Profile[]): Profile {
  const [first] = profiles;
  if (first === undefined) throw new RangeError('no profile');
  const median = (of: (profile: Profile) => Share | undefined, share: Share): Share => ({
    ...share,
    ms: summary(profiles.map((profile) => of(profile)?.ms ?? Number.NaN)).ms,
  });
  return {
    phases: first.phases.map((phase, p) => ({
      ...phase,
      users: phase.users.map((share, user) => median((profile) => profile.phases[p]?.users[user], share)),
      server: median((profile) => profile.phases[p]?.server, phase.server),
      authority: median((profile) => profile.phases[p]?.authority, phase.authority),
    })),
  };
}
