// How clients of the platforms differ, as the page's panes ask it: these are the defaults, and the
// `client` that a platform's draw.js exports replaces what is different there.

export const CLIENT = {
  sign: "#", // before the name of a channel, where nothing else says that it is one
  placeholder: (channel) => `Message #${channel}`, // in the empty text box; null: as the server wrote it
  joins: true, // messages of one author one after another stand together under one name
  badge: "APP", // beside the name of a bot
  edited: "(edited)", // beside a message that was edited
  answerLine: false, // a line below each message outside a thread answers it
  namedThreads: false, // a thread shows the first words of its root
  replies: (count) => (count > 1 ? `${count} replies` : "1 reply"), // above the replies of a thread
  threads: true, // replies stand in threads; else a reply names what it answers
  files: true, // people share files
  edits: true, // people change their messages
  pins: true, // people pin messages
  commands: true, // bots have commands of their own; else one mentions the bot
};
