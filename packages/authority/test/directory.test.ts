/** The time for which the keys of a buffer are needed, by the log. */
import { type BufferPart, epochKeyOf, ownPart } from '@basa/protocol';
import { atSeveralCloses, authorityOf, votesOf } from '@basa/testkit/core/several.ts';
import { expect, it } from 'vitest';
import { Directory } from '../src/log/directory.ts';

it('are needed until the grace period of a closed buffer ends, if the authority voted and does not know about the close', () => {
  const { world, ctx, request } = atSeveralCloses();
  const { descriptor } = world.server.buffer(ctx);
  const authority = authorityOf(world, 3);
  const epoch = epochKeyOf(descriptor, ownPart(authority.publicKey, descriptor) as BufferPart);
  const directory = (): Directory => {
    const made = new Directory(authority.publicKey);
    for (const record of authority.records) made.add(record);
    made.forgetClosed(descriptor.closeBy);
    return made;
  };
  expect(directory().needs(epoch)).toBe(true); // it may still be closed, or aborted
  votesOf(world, [3], request);
  expect(directory().needs(epoch)).toBe(false);
});
