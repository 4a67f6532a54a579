/** A buffer that waits to be closed, and requests to close it with changed fields. */
import { authorityMessages, type CloseRequest, closeRequestOf } from '@basa/protocol';
import { type Federation, type FederationDevice, granted, type Sealings } from '@basa/simulator';
import { nodeFederation } from './tools.ts';

const messages = authorityMessages(4);

/** Returns a frozen buffer of four slots, of which the last quit, and the server's request. */
export function atClose(sealings?: Sealings) {
  const world = nodeFederation({ bufferSize: 4, minimum: 2, dimension: 6, ...(sealings && { sealings }) });
  const devices = Array.from({ length: 4 }, () => world.device());
  for (const [n, device] of devices.entries()) granted(device.contribute(n === 3 ? 'key' : 'upload'));
  const { ctx } = devices[0] as FederationDevice;
  granted(world.server.freeze(ctx, 'stalled'));
  const request = granted(closeRequestOf(world.server.ports, world.server.buffer(ctx)));
  return { world, devices, ctx, request };
}

/** Returns the authority's answer to the request with these changes, signed by the server. */
export function closed(world: Federation, request: CloseRequest, change: Partial<CloseRequest> = {}) {
  const body = { ...request, ...change };
  const signature = world.server.ports.signer.sign(messages.closeRequest.statement(body));
  return world.authority.close(messages.closeRequest.encode({ ...body, signature }));
}
