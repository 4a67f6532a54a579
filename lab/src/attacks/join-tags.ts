/** J1: a colluder repeats a victim's join nonce, so that a key bound to it might open the victim's self mask. */
import { equalBytes, type Suite, toHex } from '@basa/masking';
import {
  checkDrawnBuffer,
  type FrozenSession,
  inputDigestOf,
  KIND,
  millis,
  prepareDeposit,
  type UserRecord,
} from '@basa/protocol';
import { type FederationDevice, granted, LEASE_MS } from '@basa/simulator';
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import { SealedScene } from './sealed-scene.ts';
import { closeBuffer } from './server-moves.ts';

export const J1: Attack = {
  id: 'J1',
  schedule: 'U0 uploads too late; Eve repeats its join nonce, signs for its self seed and is accepted with U1 and U2',
  mutant: 'self keys that are bound to a tag that the user chooses',
  broken: (setting) => {
    const { environment } = setting;
    const suite = keysOfNonceAlone(environment.tools.suite);
    return repeatedNonce({ ...setting, environment: { ...environment, tools: { ...environment.tools, suite } } });
  },
  sealed: repeatedNonce,
};

/** U0 is dropped after its upload was seen: its edge key is released, and with its self key the upload would be bare. */
function repeatedNonce(setting: AttackSetting): AttackResult {
  const scene = new SealedScene(setting);
  const [victim, u1, u2] = scene.honestOnes('U0', 'U1', 'U2');
  const eve = scene.colluder('Eve');
  scene.go(victim, 'key');
  victim.receiveKeyAndFreeze('upload');
  const seen = victim.session as FrozenSession;
  scene.world.now = millis(scene.world.now + LEASE_MS + 1);
  scene.go(victim);
  prepareWithNonceOf(scene, eve, victim);
  scene.go(eve, 'key');
  eve.receiveKeyAndFreeze('upload');
  signForSelfSeed(eve, seen.header.selfName);
  scene.go(eve);
  scene.go(u1);
  scene.go(u2);
  closeBuffer(scene, seen.member.ctx);
  return scene.result();
}

/** Eve's header names the victim's self seed as hers: she is after the key that the authority releases for it. */
function signForSelfSeed(eve: FederationDevice, selfName: Uint8Array): void {
  eve.records = eve.records.map((entry) => (entry.kind === 'frozen' ? { ...entry, selfName } : entry));
  eve.restart();
}

function prepareWithNonceOf({ world }: SealedScene, eve: FederationDevice, victim: FederationDevice): void {
  const { nonce } = victim.records[0] as Extract<UserRecord, { kind: 'prepared' }>;
  const offered = granted(world.server.seat(eve.seatRequest()));
  const { descriptor, slotKeys } = granted(
    checkDrawnBuffer(eve.suite, world.pins, offered, world.now, offered.descriptor),
  );
  const built = granted(eve.buildVector(descriptor, eve.oneHot(), descriptor.version));
  eve.input = built.vector;
  const randomBytes = (length: number): Uint8Array => (length === 16 ? nonce.slice() : world.randomBytes(length));
  const { certificate, deltaId, suite, input } = eve;
  granted(
    eve.persist(
      prepareDeposit({ ...eve.ports, randomBytes }, eve, {
        descriptor,
        slotKeys,
        certificate,
        deltaId,
        inputDigest: inputDigestOf(suite, input),
      }),
    ),
  );
}

const HEADER_BYTES = 3;
const [CTX_BYTES, SLOT_BYTES, USER_BYTES, TAG_BYTES] = [32, 2, 32, 32];

/** SHA-256, except that a registration equals its join tag without its user. */
function keysOfNonceAlone(suite: Suite): Suite {
  const withoutUser = new Map<string, Uint8Array>();
  return {
    ...suite,
    sha256(...parts) {
      const hash = suite.sha256(...parts);
      const [layout] = parts;
      if (parts.length !== 1 || layout === undefined) return hash;
      if (isLayout(layout, KIND.join)) {
        const blanked = layout.slice();
        blanked.fill(0, HEADER_BYTES + CTX_BYTES, HEADER_BYTES + CTX_BYTES + USER_BYTES);
        withoutUser.set(toHex(hash), suite.sha256(blanked));
      }
      if (!isLayout(layout, KIND.registration)) return hash;
      const start = HEADER_BYTES + CTX_BYTES + SLOT_BYTES;
      return withoutUser.get(toHex(layout.subarray(start, start + TAG_BYTES)))?.slice() ?? hash;
    },
  };
}

function isLayout(bytes: Uint8Array, kind: number): boolean {
  return equalBytes(bytes.subarray(1, HEADER_BYTES), Uint8Array.of(1, kind));
}
