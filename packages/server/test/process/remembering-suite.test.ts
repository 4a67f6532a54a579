import { createNodeSigner, nodeSuite } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';
import { rememberingSuite } from '../../src/process/core.ts';

const signer = createNodeSigner(new Uint8Array(32).fill(5));
const signed = (text: string) => {
  const message = new TextEncoder().encode(text);
  return { message, signature: signer.sign(message), publicKey: signer.publicKey };
};

describe('a suite that remembers good signatures', () => {
  const counting = (most?: number) => {
    let asked = 0;
    const verify: typeof nodeSuite.verify = (one) => {
      asked += 1;
      return nodeSuite.verify(one);
    };
    return { suite: rememberingSuite({ ...nodeSuite, verify }, most), asked: () => asked };
  };

  it('verifies the same one once', () => {
    const { suite, asked } = counting();
    expect([suite.verify(signed('a')), suite.verify(signed('a')), asked()]).toEqual([true, true, 1]);
  });

  it('takes nothing that differs in message, signature or key for it, and remembers nothing bad', () => {
    const { suite, asked } = counting();
    const good = signed('a');
    suite.verify(good);
    const [flipped, other] = [good.signature.slice(), good.publicKey.slice()];
    flipped[3] = (flipped[3] ?? 0) ^ 1;
    other[3] = (other[3] ?? 0) ^ 1;
    const bad = [
      { ...good, message: signed('b').message },
      { ...good, signature: flipped },
      { ...good, publicKey: other },
    ];
    for (const one of [...bad, ...bad]) expect(suite.verify(one)).toBe(false);
    expect(asked()).toBe(1 + 2 * bad.length);
  });

  it('forgets the oldest', () => {
    const { suite, asked } = counting(2);
    for (const text of ['a', 'b', 'c', 'd', 'a']) suite.verify(signed(text));
    expect(asked()).toBe(5);
    suite.verify(signed('d'));
    expect(asked()).toBe(5);
  });
});
