export const Gate = async (ctx) => {
  // The calls that were approved and haven't ended, each with what was approved.
  const approved = new Map()
  const name = (session, call) => JSON.stringify([session, call])

  return {
    "tool.execute.before": async (input, output) => {
      const { tool, sessionID, callID } = input
      const args = JSON.stringify(output.args)
      const event = { tool, sessionID, callID, args: JSON.parse(args), directory: ctx.directory }
      const answer = await ask(LINE, JSON.stringify(event), LIMIT_MS)
      if (answer?.decision !== "allow") throw new Error(answer?.reason || NO_ANSWER)
      if (JSON.stringify(output.args) !== args) throw new Error(NO_ANSWER)
      approved.set(name(sessionID, callID), event.args)
    },
    "tool.execute.after": async (input) => {
      approved.delete(name(input.sessionID, input.callID))
    },
    // `permission` says ask, so that nothing runs where this file isn't loaded. What was approved here is answered.
    event: async ({ event }) => {
      if (event.type !== "permission.asked") return
      const { id, sessionID, metadata, tool } = event.properties
      const args = approved.get(name(sessionID, tool?.callID))
      if (!args || (metadata?.command !== undefined && metadata.command !== args.command)) return
      const path = { id: sessionID, permissionID: id }
      await ctx.client.postSessionIdPermissionsPermissionId({ path, body: { response: "once" } })
    },
  }
}
