/** The exact versions of third-party packages in a new project. This repository is tested with the same versions. */
const TFJS = '4.22.0';

export const TOOLS = {
  '@tensorflow/tfjs-backend-cpu': TFJS,
  '@tensorflow/tfjs-core': TFJS,
  '@tensorflow/tfjs-layers': TFJS,
  '@types/node': '20.19.43',
  esbuild: '0.28.2',
  tsx: '4.23.15',
  typescript: '7.0.2',
} as const;

/** A part of a package.json: these packages, each with its version. */
export function tools(...names: readonly (keyof typeof TOOLS)[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, TOOLS[name]]));
}
