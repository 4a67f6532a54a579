/**
 * The alternatives that the upload benchmark compares with: node:http and bare TCP servers that read and discard every byte. Runs as a
 * separate process.
 */
import { createServer as createHttp } from 'node:http';
import { createServer as createTcp } from 'node:net';

const http = createHttp((request, response) => {
  request.resume();
  request.once('end', () => response.end('{"received":1,"accepted":true}'));
});
/** Each message is a length in 4 bytes and the bytes; one byte answers it. */
const tcp = createTcp((socket) => {
  let left = 0;
  socket.on('data', (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (left === 0) {
        left = chunk.readUInt32LE(at); // the sender writes it in one call, so it is never split on this machine
        at += 4;
      }
      const taken = Math.min(left, chunk.length - at);
      left -= taken;
      at += taken;
      if (left === 0) socket.write('.');
    }
  });
  socket.on('error', () => undefined);
});
const portOf = (server: typeof http | typeof tcp): number => (server.address() as { readonly port: number }).port;
http.listen(0, '127.0.0.1', () =>
  tcp.listen(0, '127.0.0.1', () =>
    process.stdout.write(`discard: listening at http://127.0.0.1:${portOf(http)}/?tcp=${portOf(tcp)}\n`),
  ),
);
