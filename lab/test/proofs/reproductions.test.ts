/** Bugs that the explorer and the fault simulation found, each by name, as short as they come. */
import { closeRequestOf, recordAbort, recordGrant } from '@basa/protocol';
import { granted } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';
import { grantOf } from '../../src/proofs/world/one-authority.ts';

describe('found by the explorer', () => {
  it('a granted buffer whose close the authority forgot ends as unknown, and does not stay granted for ever', () => {
    const world = nodeFederation({ bufferSize: 2, dimension: 2 });
    const { server, authority } = world;
    const ctx = world.fill([world.device(), world.device()]);
    granted(server.freeze(ctx));
    const request = granted(closeRequestOf(server.ports, server.buffer(ctx)));
    const answer = granted(authority.close(authority.messages.closeRequest.encode(request)));
    authority.log.pop();
    authority.restart();
    granted(
      server.persist(
        server.buffer(ctx),
        recordGrant(server.buffer(ctx), granted(grantOf(server.ports, server.buffer(ctx), answer))),
      ),
    );
    expect(() => server.appendModel(1, ctx)).toThrow('buffer-not-closed');
    const outcome = authority.outcome(ctx);
    expect(outcome.status).toBe('unknown');
    expect(recordAbort(server.ports, server.buffer(ctx), [{ authority: 0, outcome }]).answer).toEqual({
      kind: 'unknown',
    });
  });
});
