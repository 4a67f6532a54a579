/** The upload of a device of the kit that kept it back, as the kit sends it: whole or in pieces, as it is or changed. */
import { fromHex, toHex } from '@basa/masking';
import {
  HEADER,
  SERVER_PATH,
  type ShotHeader,
  type ShotUpload,
  shotHeaderCodec,
  shotUploadCodec,
  uploadNameOf,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { Asked } from '../service-proxy.ts';
import type { KitDevice, KitTask } from './kit-task.ts';
import type { SignedAsking, Told } from './probe.ts';

export class HeldShot {
  readonly upload: ShotUpload;
  readonly body: Uint8Array;
  readonly #kit: KitTask;
  readonly #device: KitDevice;

  constructor(kit: KitTask, device: KitDevice, { headers, body }: Asked) {
    this.#kit = kit;
    this.#device = device;
    this.upload = shotUploadCodec.decode(fromHex(String(headers[HEADER.upload])) ?? new Uint8Array());
    this.body = body;
  }

  get name(): string {
    return toHex(uploadNameOf(nodeSuite, this.upload.header));
  }

  /** The same upload with these lines of its header, signed by its device unless a signature is given. */
  changed(change: Partial<ShotHeader>): ShotUpload {
    const header = { ...this.upload.header, ...change };
    const signature = change.signature ?? this.#device.signer.sign(shotHeaderCodec.statement(header));
    return { ...this.upload, header: { ...header, signature } };
  }

  put(
    offset: number,
    piece: Uint8Array | undefined,
    more: Partial<SignedAsking> = {},
    upload = this.upload,
  ): Promise<Told> {
    return this.putAt(toHex(uploadNameOf(nodeSuite, upload.header)), offset, piece, {
      ...more,
      headers: { [HEADER.upload]: toHex(shotUploadCodec.encode(upload)), ...more.headers },
    });
  }

  /** At the address of another upload. */
  putAt(name: string, offset: number, piece: Uint8Array | undefined, more: Partial<SignedAsking>): Promise<Told> {
    const { server, task } = this.#kit;
    const headers = { [HEADER.uploadOffset]: String(offset), ...more.headers };
    const path = SERVER_PATH.shot(task, name);
    return server.signed('PUT', path, { signer: this.#device.signer, body: piece, ...more, headers });
  }

  /** The number of bytes that the server reports as received. */
  async noteStanding(what: string, expected: number): Promise<void> {
    const { server, task } = this.#kit;
    const headers = { [HEADER.upload]: toHex(shotUploadCodec.encode(this.upload)) };
    const told = await server.signed('HEAD', SERVER_PATH.shot(task, this.name), {
      signer: this.#device.signer,
      headers,
    });
    const offset = told.headers.get(HEADER.uploadOffset);
    server.notes(what, offset === String(expected), `Upload-Offset: ${expected}`, told);
  }

  /** True if the server has all of it. */
  isWhole({ json }: Told): boolean {
    return json['received'] === this.body.length && json['accepted'] === true;
  }

  fate(): Promise<Told> {
    const { server, task } = this.#kit;
    return server.ask('GET', SERVER_PATH.shotFate(task, this.name));
  }
}
