/** A real Chromium, and pages in it that report everything they should not do. */
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { MissingError } from '../programs/missing.ts';
import { findChromium } from './find-chromium.ts';

/** Returns the path of the browser; if there is none, throws an error that says what to do. */
function chromiumPath(): string {
  const found = findChromium();
  if (found !== undefined) return found;
  throw new MissingError(
    'no Chromium was found; install one (Debian: apt-get install chromium) or set CHROMIUM to the path of its program',
  );
}

/** The part of a link that names services and a task of somebody else: no page may follow it. */
export const FOREIGN = String(
  new URLSearchParams({
    server: 'http://127.0.0.1:9',
    authority: 'http://127.0.0.1:9',
    authorityKey: 'ab'.repeat(32),
    task: 'cd'.repeat(32),
  }),
);

export function launchChromium(...more: readonly string[]): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-dev-shm-usage', ...more];
  return chromium.launch({ executablePath: chromiumPath(), args });
}

/** Misconduct of a page: errors, and requests to any host but those of the services. */
export class Conduct {
  readonly faults: string[] = [];
  readonly #hosts: ReadonlySet<string>;

  constructor(...urls: readonly string[]) {
    this.#hosts = new Set(urls.map((url) => new URL(url).host));
  }

  /** Violations of the policy are console errors, of pages and of their workers. */
  watch(page: Page): void {
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.faults.push(message.text());
    });
    page.on('pageerror', (error) => this.faults.push(error.message));
    page.on('request', (request) => {
      const { host, protocol } = new URL(request.url());
      if (protocol.startsWith('http') && !this.#hosts.has(host)) this.faults.push(`asked ${request.url()}`);
    });
  }
}

/** Everything the page hears from its workers, and every call of its own thread that masking or training would need. */
export interface Overheard {
  readonly news: readonly Readonly<Record<string, unknown>>[];
  readonly heavyCalls: readonly string[];
}

/** Listens in every page of the context; runs only in pages, never in workers. */
export async function overhear(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    const heard: { news: unknown[]; heavyCalls: string[] } = { news: [], heavyCalls: [] };
    Object.assign(globalThis, { heard });
    const Original = globalThis.Worker;
    globalThis.Worker = class extends Original {
      constructor(...given: ConstructorParameters<typeof Original>) {
        super(...given);
        this.addEventListener('message', ({ data }) => heard.news.push(data));
      }
    };
    for (const [name, owner] of [
      ['encrypt', SubtleCrypto.prototype],
      ['sign', SubtleCrypto.prototype],
      ['generateKey', SubtleCrypto.prototype],
      ['instantiate', WebAssembly],
      ['compile', WebAssembly],
      ['Module', WebAssembly],
      ['Instance', WebAssembly],
    ] as const) {
      const original = Reflect.get(owner, name) as (...given: unknown[]) => unknown;
      Reflect.set(
        owner,
        name,
        new Proxy(original, {
          apply: (target, self, given) => heard.heavyCalls.push(name) && Reflect.apply(target, self, given),
          construct: (target, given) => {
            heard.heavyCalls.push(name);
            return Reflect.construct(target, given) as object;
          },
        }),
      );
    }
  });
}

/** Typed arrays come as plain lists. */
export function overheard(page: Page): Promise<Overheard> {
  return page.evaluate(() => {
    const plain = (_: string, value: unknown): unknown =>
      ArrayBuffer.isView(value) ? [...(value as Uint32Array)] : value;
    return JSON.parse(JSON.stringify((globalThis as unknown as { heard: object }).heard, plain)) as Overheard;
  });
}

/** Waits until the page has received such a message. */
export function heardOf(page: Page, name: string): Promise<unknown> {
  return page.waitForFunction(
    (kind) =>
      (globalThis as unknown as { heard: { news: { kind: string }[] } }).heard.news.some((one) => one.kind === kind),
    name,
  );
}

/** The first update of the tab: the quantised words, and those that left. */
export async function updateOf(page: Page): Promise<{ readonly quantised: number[]; readonly masked: number[] }> {
  await heardOf(page, 'update');
  const { news } = await overheard(page);
  return news.find(({ kind }) => kind === 'update')?.['view'] as { quantised: number[]; masked: number[] };
}
