/** A service that says what a test wants, and remembers every request. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeService {
  readonly url: string;
  /** Method and path of each request, and its token. */
  readonly asked: { readonly request: string; readonly token: string | undefined }[];
  close(): void;
}

/** `answer`: bytes, or an object for JSON. Undefined is a problem document. */
export async function fakeService(
  answer: (path: string, method: string, body: Uint8Array) => Uint8Array | object | undefined,
): Promise<FakeService> {
  const asked: FakeService['asked'] = [];
  const server = createServer((request, reply) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      asked.push({ request: `${method} ${path}`, token: headers.authorization?.replace('Bearer ', '') });
      const said = answer(path, method, new Uint8Array(Buffer.concat(parts)));
      if (said === undefined) reply.writeHead(404, { 'content-type': 'application/problem+json' });
      const problem = { type: 'urn:basa:problem:task-unknown', title: 'unknown', status: 404 };
      reply.end(said instanceof Uint8Array ? said : JSON.stringify(said ?? problem));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked, close: () => server.close() };
}
