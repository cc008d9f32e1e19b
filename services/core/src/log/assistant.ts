// The assistant of a run: a workflow with fixed values. The first event of the run keeps what the assistant was when the run was accepted, so a
// later edit changes no run. A run that repairs or continues another one has the same assistant in the same version.

export interface AssistantLink {
  readonly assistantId: string;
  readonly version: number;
  /** The text of a JSON object. */
  readonly config: string;
}
