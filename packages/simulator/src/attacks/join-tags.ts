/** J1: a colluder repeats a victim's join nonce and drops out, so that the keys of a drop-out might open the victim's seeds. */
import type { Suite } from '@basa/masking';
import { equalBytes, toHex } from '@basa/masking';
import type { UserRecord } from '@basa/protocol';
import { checkDescriptor, inputDigestOf, prefixElements, prepareDeposit } from '@basa/protocol';
import type { FederationDevice } from '../federation-device.ts';
import { granted } from '../granted.ts';
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import { SealedStage } from './sealed-stage.ts';
import type { FourDevices } from './server-moves.ts';
import { closeBuffer } from './server-moves.ts';

export const J1: Attack = {
  id: 'J1',
  schedule: 'Eve deposits with the join nonce of U0 and drops out; U0, U1 and U2 are accepted',
  mutant: 'self and drop keys that are bound to the join nonce alone',
  broken: (setting) => {
    const { environment } = setting;
    const suite = keysOfNonceAlone(environment.tools.suite);
    return repeatedNonce({ ...setting, environment: { ...environment, tools: { ...environment.tools, suite } } });
  },
  sealed: repeatedNonce,
};

/** U0 is first, so that all its masks are seeds of its own: what later users back up under drop(g_0). */
function repeatedNonce(setting: AttackSetting): AttackResult {
  const stage = new SealedStage(setting);
  const [victim, u1, u2] = ['U0', 'U1', 'U2'].map((name) => stage.honest(name)) as FourDevices;
  const eve = stage.colluder('Eve');
  stage.go(victim);
  prepareWithNonceOf(stage, eve, victim);
  stage.go(eve, 'key');
  stage.go(u1);
  stage.go(u2);
  closeBuffer(stage, victim.ctx);
  return stage.result();
}

function prepareWithNonceOf({ world }: SealedStage, eve: FederationDevice, victim: FederationDevice): void {
  const { nonce } = victim.records[0] as Extract<UserRecord, { kind: 'prepared' }>;
  const offered = granted(world.server.seat(eve.certificate));
  const { descriptor } = granted(checkDescriptor(eve.suite, world.pins, offered, world.now));
  eve.input = new Uint32Array(prefixElements(world.policy) + world.policy.dimension);
  const randomBytes = (length: number): Uint8Array => (length === 16 ? nonce.slice() : world.randomBytes(length));
  const { certificate, deltaId, suite, input } = eve;
  granted(
    eve.persist(
      prepareDeposit({ ...eve.ports, randomBytes }, eve, {
        descriptor,
        certificate,
        deltaId,
        inputDigest: inputDigestOf(suite, input),
      }),
    ),
  );
}

const [JOIN, ATTRIBUTE, HEADER_BYTES] = [64, 65, 3];
const [CTX_BYTES, USER_BYTES, TAG_BYTES] = [32, 32, 32];

/** SHA-256, but that attributes of a join tag are made of what the tag is without its user. */
function keysOfNonceAlone(suite: Suite): Suite {
  const withoutUser = new Map<string, Uint8Array>();
  return {
    ...suite,
    sha256(...parts) {
      const [layout] = parts;
      const isLayout =
        parts.length === 1 && layout !== undefined && equalBytes(layout.subarray(0, 2), Uint8Array.of(2, 1));
      const hash = suite.sha256(...parts);
      if (!isLayout) return hash;
      if (layout[2] === JOIN) {
        const blanked = layout.slice();
        blanked.fill(0, HEADER_BYTES + CTX_BYTES, HEADER_BYTES + CTX_BYTES + USER_BYTES);
        withoutUser.set(toHex(hash), suite.sha256(blanked));
      }
      if (layout[2] !== ATTRIBUTE) return hash;
      const changed = layout.slice();
      const tag = withoutUser.get(toHex(layout.subarray(-TAG_BYTES)));
      if (tag === undefined) return hash;
      changed.set(tag, layout.length - TAG_BYTES);
      return suite.sha256(changed);
    },
  };
}
