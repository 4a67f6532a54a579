/** HTTP as the shared code sees it: undici implements it on Node, fetch in browsers. */

interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  /** The body as it arrives; ends with an error if the connection is cut. Read it to its end. */
  chunks(): AsyncIterable<Uint8Array>;
}

export interface Transport {
  /** Resolves with the head of the answer for any status. Rejects if there is no answer. */
  send(request: HttpRequest): Promise<HttpAnswer>;
  close(): Promise<void>;
}
