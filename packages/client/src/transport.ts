/** HTTP as the shared code sees it: undici fills it on Node, fetch in browsers. */

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
  /** The body as it arrives; ends with an error where the connection is cut. To be read to its end. */
  chunks(): AsyncIterable<Uint8Array>;
}

export interface Transport {
  /** Resolves with the head of any answer; rejects where there is none. */
  send(request: HttpRequest): Promise<HttpAnswer>;
  close(): Promise<void>;
}
