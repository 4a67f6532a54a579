/** docs/api: the public interface of the packages that applications build on, read by API Extractor from the built declarations. */
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import type { Manifest } from './published-manifest.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'docs/api');

/** The other packages are parts of the services and tools. */
const REPORTED = ['abe', 'client', 'masking', 'protocol'];

/** Writes one report for each entry and returns the problems found, as sentences. The packages must have been built. */
export function writeReports(): readonly string[] {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const entries = REPORTED.flatMap(entriesOf);
  const configs = entries.map(configOf);
  const [first] = configs;
  if (first === undefined) throw new Error('there is nothing to report');
  // One program for all reports: each alone would read and check the same declarations again.
  const additionalEntryPoints = configs.map(({ mainEntryPointFilePath }) => mainEntryPointFilePath);
  const compilerState = CompilerState.create(first, { additionalEntryPoints });
  return entries.flatMap(({ report }, n) => writeReport(report, configs[n] as ExtractorConfig, compilerState));
}

interface Entry {
  readonly name: string;
  /** The name of its report. */
  readonly report: string;
  /** The path of its declarations below the package. */
  readonly types: string;
}

function entriesOf(name: string): readonly Entry[] {
  const manifest = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as Manifest;
  return Object.entries(manifest.exports).flatMap(([entry, target]) => {
    const types = typeof target === 'object' ? target['types'] : undefined;
    return typeof types === 'string' ? [{ name, report: `${name}${entry.slice(1)}`.replaceAll('/', '-'), types }] : [];
  });
}

function configOf({ name, report, types }: Entry): ExtractorConfig {
  const projectFolder = join(root, 'packages', name);
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(projectFolder, 'package.json'),
    configObject: {
      projectFolder,
      mainEntryPointFilePath: join(projectFolder, types),
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: 'ES2022',
            lib: ['ES2022', 'DOM'],
            types: [],
            module: 'NodeNext',
            moduleResolution: 'NodeNext',
            strict: true,
          },
          include: [types],
        },
      },
      apiReport: {
        enabled: true,
        includeForgottenExports: true,
        reportFileName: report,
        reportFolder: folder,
        reportTempFolder: join(root, 'node_modules/.cache/api-extractor'),
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
        extractorMessageReporting: {
          default: { logLevel: ExtractorLogLevel.Error },
          'ae-missing-release-tag': { logLevel: ExtractorLogLevel.None },
          'ae-undocumented': { logLevel: ExtractorLogLevel.None },
          // Types that are reachable without having a name of their own stand at the end of the report.
          'ae-forgotten-export': { logLevel: ExtractorLogLevel.None },
        },
        tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
      },
    },
  });
}

function writeReport(report: string, config: ExtractorConfig, compilerState: CompilerState): readonly string[] {
  const problems: string[] = [];
  Extractor.invoke(config, {
    localBuild: true,
    compilerState,
    messageCallback: (message) => {
      message.handled = true;
      if (message.logLevel === ExtractorLogLevel.Error)
        problems.push(`${report}: ${message.formatMessageWithLocation(root)}`);
    },
  });
  renameSync(join(folder, `${report}.api.md`), join(folder, `${report}.md`));
  return problems;
}
