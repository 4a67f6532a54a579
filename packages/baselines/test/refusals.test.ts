/** Refusals of the parties: strangers, repeats, changed bytes, and questions about too few. */
import { DecodeError, FIELD, FIELD_PRIME } from '@basa/masking';
import { describe, expect, it } from 'vitest';
import { primeField } from '../src/field/field.ts';
import { MaskCode } from '../src/lightsecagg/mask-code.ts';
import { LightSecAggServer } from '../src/lightsecagg/server.ts';
import { LightSecAggUser } from '../src/lightsecagg/user.ts';
import { decodeAnswer, decodeKeys, decodeShares, type SealedShares } from '../src/secagg/messages.ts';
import { secAggParameters, secAggPlusParameters } from '../src/secagg/parameters.ts';
import { SecAggServer } from '../src/secagg/server.ts';
import { SecAggUser } from '../src/secagg/user.ts';
import { toolsFrom } from './support.ts';

const tools = toolsFrom(1);
const ports = { suite: tools.masks.suite, randomBytes: tools.randomBytes };
const session = tools.randomBytes(32);
const refusedFor = (reason: string) => ({ kind: 'refused', reason });

describe('a SecAgg user', () => {
  const parameters = secAggParameters(4, { session, modulus: FIELD });

  function sharing() {
    const users = [0, 1, 2, 3].map((id) => new SecAggUser(id, parameters, ports));
    const roster = users.map((user) => user.advertise());
    const shares = users.map((user) => user.share(roster));
    const inboxOf = (user: number): SealedShares[] =>
      shares.flatMap((made, peer) =>
        made.kind === 'refused'
          ? []
          : made.shares.filter((share) => share.peer === user).map(({ sealed }) => ({ peer, sealed })),
      );
    return { users: users as [SecAggUser, SecAggUser, SecAggUser, SecAggUser], roster, inboxOf };
  }

  it('does not share if fewer than t users have keys, or a key occurs twice', () => {
    const { users, roster } = sharing();
    expect(users[0].share(roster.slice(0, 2))).toMatchObject(refusedFor('too-few'));
    const copied = roster.map((keys, n) => (n === 3 ? { ...keys, maskKey: roster[2]?.maskKey as Uint8Array } : keys));
    expect(users[0].share(copied)).toMatchObject(refusedFor('keys-not-distinct'));
    const zero = roster.map((keys, n) => (n === 3 ? { ...keys, channelKey: new Uint8Array(32) } : keys));
    expect(users[0].share(zero)).toMatchObject(refusedFor('key-invalid'));
  });

  it('answers once, about those who shared with it, and not if fewer than t survived', () => {
    const { users, inboxOf } = sharing();
    expect(users[0].mask(inboxOf(0)).kind).toBe('plan');
    expect(users[0].answer([0, 1])).toMatchObject(refusedFor('too-few'));
    expect(users[0].answer([0, 1, 2, 9])).toMatchObject(refusedFor('not-expected'));
    const answer = users[0].answer([0, 1, 2]);
    expect(answer.kind === 'answer' && answer.revealed.map(({ about, of }) => `${about} ${of}`)).toEqual([
      '1 self-seed',
      '2 self-seed',
      '3 mask-key',
      '0 self-seed',
    ]);
    expect(users[0].answer([0, 1, 3])).toMatchObject(refusedFor('already-answered'));
  });

  it('notices a share that was changed on the way', () => {
    const { users, inboxOf } = sharing();
    const inbox = inboxOf(1).map(({ peer, sealed }) => ({ peer, sealed: sealed.map((byte) => byte ^ 1) }));
    expect(users[1].mask(inbox).kind).toBe('plan');
    expect(users[1].answer([0, 1, 2])).toMatchObject(refusedFor('share-invalid'));
  });
});

describe('a SecAgg server', () => {
  it('accepts each message once, from the user it expects it from', () => {
    const server = new SecAggServer(secAggParameters(3, { session, modulus: FIELD }), ports);
    const keys = new SecAggUser(0, secAggParameters(3, { session, modulus: FIELD }), ports).advertise();
    expect(server.receiveKeys(keys)).toBeUndefined();
    expect(server.receiveKeys(keys)).toMatchObject(refusedFor('not-expected'));
    expect(server.closeKeys()).toMatchObject(refusedFor('too-few'));
    expect(server.receiveMasked(7)).toMatchObject(refusedFor('not-expected'));
    expect(server.receiveAnswer(7, [])).toMatchObject(refusedFor('not-expected'));
  });

  it('has neighbours if the rule allows it, and otherwise all users', () => {
    const risk = { corrupt: 0.05, dropped: 0.05 };
    const base = { session, modulus: FIELD };
    expect(secAggPlusParameters(100, risk, base)).toMatchObject({
      graph: { kind: 'harary', degree: 29 },
      threshold: 6,
    });
    expect(secAggPlusParameters(10, risk, base)).toMatchObject({ graph: { kind: 'complete' }, threshold: 7 });
  });
});

describe('LightSecAgg', () => {
  const code = { users: 3, survivors: 2, privacy: 1 };
  const parameters = { ...code, session, dimension: 5, fewest: 2 };
  const maskCode = new MaskCode(code, primeField(FIELD_PRIME));

  function connected(): [LightSecAggUser, LightSecAggUser, LightSecAggUser] {
    const users = [0, 1, 2].map((id) => new LightSecAggUser(id, parameters, maskCode, tools));
    for (const user of users) user.connect(users.map((peer) => peer.advertise()));
    for (const from of users) {
      for (const { peer, sealed } of from.encodeMask(4)) users[peer]?.receiveShare({ peer: from.id, sealed }, 4);
    }
    return users as [LightSecAggUser, LightSecAggUser, LightSecAggUser];
  }
  const about = (...users: number[]) => users.map((user) => ({ user, stamp: 4, weight: 1 }));

  it('users answer about enough masks at a time and about each mask once', () => {
    const [user] = connected();
    expect(user.answer(about(1))).toMatchObject(refusedFor('too-few'));
    expect(user.answer(about(1, 1))).toMatchObject(refusedFor('too-few'));
    expect(user.answer([...about(1, 2), { user: 0, stamp: 4, weight: 0 }])).toMatchObject(refusedFor('not-expected'));
    expect(user.answer([...about(1), { user: 2, stamp: 5, weight: 1 }])).toMatchObject(refusedFor('share-missing'));
    expect(user.answer(about(1, 2)).kind).toBe('answer');
    expect(user.answer(about(0, 1))).toMatchObject(refusedFor('already-answered'));
  });

  it('a mask is added once, and to a vector of its length', () => {
    const [user] = connected();
    expect(user.maskInPlace(new Uint32Array(4), 4)).toMatchObject(refusedFor('wrong-length'));
    expect(user.maskInPlace(new Uint32Array(5), 4)).toBeUndefined();
    expect(user.maskInPlace(new Uint32Array(5), 4)).toMatchObject(refusedFor('already-answered'));
  });

  it('a share made for another version, or by a stranger, is refused', () => {
    const [first, second] = connected();
    const share = first.encodeMask(6).find(({ peer }) => peer === 1);
    expect(second.receiveShare({ peer: 0, sealed: share?.sealed as Uint8Array }, 7)).toMatchObject(
      refusedFor('share-invalid'),
    );
    expect(second.receiveShare({ peer: 9, sealed: new Uint8Array(21) }, 6)).toMatchObject(refusedFor('not-expected'));
  });

  it('a server closes with enough updates, opens with U answers, and takes each once', () => {
    const server = new LightSecAggServer(parameters, maskCode);
    const [entry] = about(0);
    expect(server.receiveAnswer(0, new Uint32Array(5))).toMatchObject(refusedFor('not-expected'));
    expect(entry && server.receiveMasked(entry)).toBeUndefined();
    expect(entry && server.receiveMasked(entry)).toMatchObject(refusedFor('not-expected'));
    expect(server.close()).toMatchObject(refusedFor('too-few'));
    expect(server.open(tools.combinations)).toMatchObject(refusedFor('too-few-shares'));
  });
});

it('corrupt bytes are a decode error that names its field', () => {
  expect(() => decodeKeys(new Uint8Array(65))).toThrow(DecodeError);
  expect(() => decodeShares(new Uint8Array(81))).toThrow('sealed shares: truncated');
  expect(() => decodeAnswer(new Uint8Array(35).fill(2))).toThrow('kind of share');
});
